#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "c63/frame_source.h"
#include "c63/thread_pool.h"
#include "c63/trace.h"
#include "encode/scene_cuts.h"

namespace c63 {

/// Lets threads wait until something has changed. First take version(), then look for work. If there is none, call
/// wait_past() with that version. It returns at once if something has changed since version() was taken.
class ChangeSignal {
 public:
  [[nodiscard]] std::uint64_t version() const { return version_; }
  void notify() noexcept {
    ++version_;
    version_.notify_all();
  }
  void wait_past(std::uint64_t version) { version_.wait(version); }

 private:
  std::atomic<std::uint64_t> version_ = 0;
};

/// What is known about a frame that has not been read.
enum class FrameState {
  ready,    ///< it can be read now, or it may lie past the end of a source of unknown length
  pending,  ///< it has not arrived yet and may never arrive, or it is not known whether a scene starts there
  none,     ///< it lies past the end, or after an error
};

struct FrameSupplyOptions {
  bool scene_cuts = false;
  /// Frames at which scenes start; empty: the supply finds them.
  std::optional<std::vector<std::int64_t>> scene_starts = {};
  bool rewindable = false;          ///< rewind() may be called, so frames are kept until forget_before()
  std::int64_t read_ahead = 2;      ///< the most frames of a source that cannot seek that wait in memory
  ThreadPool* pool = nullptr;       ///< the threads that a reading thread may use
  TraceSink* trace = nullptr;
};

/// Supplies the frames of a source to GOP chains, each of which reads from its own position on. It knows without
/// waiting whether a frame has arrived. Any number of threads may use it at the same time.
class FrameSupply {
 public:
  virtual ~FrameSupply() = default;

  [[nodiscard]] virtual FrameState state(std::int64_t index) = 0;
  /// Returns true if a new scene starts at frame `index`, which must be ready. Always false if scene cuts are not
  /// wanted.
  [[nodiscard]] bool starts_scene(std::int64_t index) const {
    const std::lock_guard lock(mutex_);
    return cuts_ && cuts_->starts_scene(index);
  }
  /// If a frame is pending because scene cuts are not searched that far, searches a few frames and returns true. This
  /// reads them, on the caller's thread and the threads of its pool.
  virtual bool search_scenes() { return false; }

  /// Fills `frame` with frame `index`. Returns false past the end. An error of the source ends the video: the rest
  /// counts as past the end.
  [[nodiscard]] virtual bool read(std::int64_t index, std::span<std::uint8_t> frame) = 0;
  /// Returns the frame's samples where they lie, as FrameSource::in_place() does.
  [[nodiscard]] virtual std::span<const std::uint8_t> in_place([[maybe_unused]] std::int64_t index) { return {}; }
  /// Says that frame `index` is read where in_place() says, and not by read(). Returns what keeps that memory until the
  /// frame is coded; null: it stays anyway.
  [[nodiscard]] virtual std::shared_ptr<const void> hold([[maybe_unused]] std::int64_t index) { return nullptr; }
  /// Returns true if reading is faster when several threads call read() at once.
  [[nodiscard]] virtual bool concurrent() const = 0;
  /// The name that a trace shows for read().
  [[nodiscard]] virtual const char* read_name() const = 0;

  /// Stops reading ahead. Frames that were read can still be taken.
  virtual void stop() {}
  /// Says that frames before `index` will not be read again. Frames from `index` on may be read again, after rewind().
  virtual void forget_before([[maybe_unused]] std::int64_t index) {}
  /// Says that frames from `index` on will be read again.
  virtual void rewind([[maybe_unused]] std::int64_t index) {}

  /// Returns the number of frames of the input, or nothing while its end is not known.
  [[nodiscard]] virtual std::optional<std::int64_t> frames() const = 0;
  /// Returns how many frames were read so far if the source cannot seek; 0 for other sources.
  [[nodiscard]] virtual std::int64_t frames_read() const { return 0; }
  /// Returns the error that ended the source, or null if the video ended normally.
  [[nodiscard]] std::exception_ptr fault() const {
    const std::lock_guard lock(mutex_);
    return fault_;
  }
  /// Returns the time spent reading, in ms, summed over all threads.
  [[nodiscard]] double reading_ms() const {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double, std::milli>(reading_).count();
  }

 protected:
  using Clock = std::chrono::steady_clock;

  FrameSupply(FrameSource& source, const FrameSupplyOptions& options)
      : source_(source),
        frame_bytes_(c63::frame_bytes(source.format().width, source.format().height)),
        luma_bytes_(plane_bytes(source.format().width, source.format().height, 0)) {
    if (options.scene_cuts) cuts_ = options.scene_starts ? SceneCuts(*options.scene_starts) : SceneCuts();
  }
  [[nodiscard]] SceneCuts::Histogram histogram_of(std::span<const std::uint8_t> frame) const {
    return SceneCuts::histogram_of(frame.first(luma_bytes_));
  }

  FrameSource& source_;
  const std::size_t frame_bytes_;
  const std::size_t luma_bytes_;

  mutable std::mutex mutex_;  ///< guards the members below, and most of the derived classes
  std::optional<SceneCuts> cuts_;
  std::exception_ptr fault_;  ///< the error that ended the source
  Clock::duration reading_{};
};

/// Makes a supply for a seekable source. read() reads on the caller's thread.
[[nodiscard]] std::unique_ptr<FrameSupply> make_seeking_supply(FrameSource& source, const FrameSupplyOptions& options);
/// Makes a supply for a source that cannot seek. Its thread reads frames as they arrive, and notifies `arrived` for
/// each frame.
[[nodiscard]] std::unique_ptr<FrameSupply> make_arriving_supply(FrameSource& source, const FrameSupplyOptions& options,
                                                                ChangeSignal& arrived);

}  // namespace c63
