#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// Where frames come from. Frames are 8-bit 4:2:0, planes Y, U, V without gaps, frame_bytes(width, height) each.
///
/// An encode calls read() from threads of its own: a source that is not seekable from one thread, frame after frame, ahead of
/// what is encoded; a concurrent one from several threads at once; any other seekable one from one thread at a time. format(),
/// frame_count(), seekable() and concurrent() are asked before that, on the caller's thread.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  [[nodiscard]] virtual VideoFormat format() const = 0;
  /// Number of frames; nothing where only the end will tell (a pipe).
  [[nodiscard]] virtual std::optional<std::int64_t> frame_count() const = 0;
  /// True where read() takes any index at any time; otherwise indices come as 0, 1, 2, …
  [[nodiscard]] virtual bool seekable() const = 0;
  /// True if frames that are not coded now are lost: a pipe, a camera, frames that are pushed. A stop then codes all that was read.
  [[nodiscard]] virtual bool live() const { return !seekable(); }
  /// True where a seekable source takes calls of read() from several threads at once.
  [[nodiscard]] virtual bool concurrent() const { return false; }
  /// Fills `frame` with frame `index`; false when there is no such frame. Throws Error (input) on faults.
  [[nodiscard]] virtual bool read(std::int64_t index, std::span<std::uint8_t> frame) = 0;
  /// For a source that is not seekable: frame `index` is wanted soon, and read() would be called with `next`, which is not
  /// above it. The source skips what it can; returned is what read() is to be called with now, from `next` to `index`.
  [[nodiscard]] virtual std::int64_t skip_towards(std::int64_t next, [[maybe_unused]] std::int64_t index) { return next; }
  /// The encode is ending: a read() that waits for input should give up and return false. Comes from another thread.
  virtual void stop_waiting() {}
  /// Frame `index` where it lies, if a concurrent source has it in memory that stays as it is until the encode is over; empty
  /// otherwise, and where there is no such frame. A GPU takes frames from page-locked memory (cudaMallocHost,
  /// cudaHostRegister) and from its own without having them copied by read() before.
  [[nodiscard]] virtual std::span<const std::uint8_t> in_place([[maybe_unused]] std::int64_t index) { return {}; }
  /// Whether the CPU can read what in_place() gives. False: it is in a GPU's memory; read() copies it to the host.
  [[nodiscard]] virtual bool in_host_memory() const { return true; }
};

/// Whole frames that lie one after another in memory, which outlives the source. Throws Error (input, C63-PARTIAL-FRAME) if
/// they are no whole number of frames. Frames are offered in place: page-locked memory goes straight to a GPU.
class MemorySource final : public FrameSource {
 public:
  MemorySource(std::span<const std::uint8_t> frames, VideoFormat format);

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return count_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;
  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override;

 private:
  std::span<const std::uint8_t> frames_;
  VideoFormat format_;
  std::size_t frame_bytes_;
  std::int64_t count_;
};

/// What a video file is read as.
enum class SourceFormat {
  automatic,  ///< by content, then by name
  raw,        ///< planes of 4:2:0, nothing else
  y4m,
  av,  ///< whatever FFmpeg reads
};

/// Where a container can be entered, and what tells its frames apart. It is made while the whole video is read once in
/// order. Then other sources of the same video need not decode what lies before the frames that are wanted of them.
struct SeekTable {
  struct Point {
    std::int64_t frame = 0;    ///< a key frame
    std::int64_t time = 0;     ///< when it is shown, in units of the container
    std::int64_t decoded = 0;  ///< when it is decoded: what containers are searched by

    bool operator==(const Point&) const = default;
  };
  std::vector<Point> points;        ///< in order of frames
  std::vector<std::uint64_t> sums;  ///< of every frame's samples: what is read after a skip is compared

  bool operator==(const SeekTable&) const = default;
};

struct SourceOptions {
  std::string path;  ///< "-" is stdin
  SourceFormat format = SourceFormat::automatic;
  int width = 0;  ///< 0: from the file or its name
  int height = 0;
  std::optional<FrameRate> rate = {};  ///< nothing: the file's, or 25 per second
  bool strict = false;                 ///< a partial last frame is an error instead of a warning
  bool tolerant = false;               ///< FFmpeg's: damaged packets are skipped, with a warning that counts them
  /// FFmpeg's. An empty table is filled while frames are read. With a full one the source skips to frames, and decodes
  /// from the start where it does not find the frame there that the table tells of.
  std::shared_ptr<SeekTable> seek_table = {};
  Limits limits = {};
  std::stop_token stop = {};             ///< ends the waiting for a pipe: as if it had ended
  std::function<void(const std::string&)> warn = {};  ///< takes one line, without the file's name
  /// Where libc63_ffmpeg.so is. Empty: beside the program or library, or where it was installed. The first source to
  /// need it loads it for the process.
  std::string module_folder = {};
};

/// Opens a video. `automatic` takes as Y4M what starts like it, as raw what is named *.yuv or *.raw or has its size in
/// `width` and `height` and no video container's name, and leaves the rest to FFmpeg.
/// Raw input and Y4M from regular files (also redirected to stdin) are seekable, pipes and FFmpeg's are not.
/// FFmpeg is loaded at the first video that needs it. Throws Error (usage, input, limit); (input, C63-NO-FFMPEG) if
/// c63's module for FFmpeg or a library of FFmpeg's is missing.
[[nodiscard]] std::unique_ptr<FrameSource> open_frame_source(const SourceOptions& options);

/// The frames of `source` from `first` on, at most `count` of them (-1: all), renumbered from 0. What comes before is
/// read and dropped where `source` is not seekable.
[[nodiscard]] std::unique_ptr<FrameSource> clip_frames(std::unique_ptr<FrameSource> source, std::int64_t first,
                                                       std::int64_t count = -1);

/// The picture size that a file's name tells ("FOREMAN_352x288.yuv", "akiyo_qcif.yuv"), as width and height.
[[nodiscard]] std::optional<std::pair<int, int>> size_from_name(const std::string& path);

}  // namespace c63
