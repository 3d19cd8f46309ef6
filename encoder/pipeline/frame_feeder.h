#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "c63/encoder.h"

namespace c63 {

/// Gives lanes the frames at their own positions. A seekable source is read there; of any other, the frames between are
/// kept in memory until their lane comes for them. Several threads may use it at once; they wait for each other where the
/// source cannot be read concurrently.
class FrameFeeder {
 public:
  /// With `rewindable`, frames stay until forget_before() gives them up, so that they can be read again.
  FrameFeeder(FrameSource& source, bool rewindable)
      : source_(source), frame_bytes_(c63::frame_bytes(source.format().width, source.format().height)),
        seekable_(source.seekable()), rewindable_(rewindable) {}

  /// Fills `frame` with frame `index`; false past the end. What the source throws while it reads ahead is thrown here
  /// when the frame that it concerns is asked for.
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame);

  /// Frame `index` where the source has it; empty where it is to be read.
  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) {
    return concurrent() ? source_.in_place(index) : std::span<const std::uint8_t>{};
  }

  /// Frame `index`, which nobody has taken yet, without taking it: in `buffer`, or where it waits for read(). Empty
  /// past the end and where the source fails, which read() will throw.
  [[nodiscard]] std::span<const std::uint8_t> look_at(std::int64_t index, std::vector<std::uint8_t>& buffer);

  /// Whether several threads gain by calling read() and look_at() at once.
  [[nodiscard]] bool concurrent() const { return seekable_ && source_.concurrent(); }

  /// Frames before `index` will not be asked for again.
  void forget_before(std::int64_t index);

 private:
  /// Reads the next frame of a source that cannot seek; false past the end and from a fault on.
  bool read_next(std::span<std::uint8_t> frame);
  /// Reads and keeps the frames up to `index`; false where there is no such frame.
  bool keep_up_to(std::int64_t index);

  FrameSource& source_;
  std::size_t frame_bytes_;
  bool seekable_;
  bool rewindable_;
  std::mutex mutex_;  ///< guards what follows, and the source unless it is concurrent
  std::int64_t next_ = 0;     ///< the frame that a source that cannot seek gives next
  bool ended_ = false;
  std::exception_ptr fault_;  ///< what the source threw at frame next_
  std::map<std::int64_t, std::vector<std::uint8_t>> kept_;
  std::vector<std::vector<std::uint8_t>> spare_;  ///< buffers to use again
};

}  // namespace c63
