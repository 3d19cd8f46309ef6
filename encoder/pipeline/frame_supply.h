#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "c63/frame_source.h"
#include "c63/trace.h"
#include "threads/change_signal.h"

namespace c63 {

/// What is known of a frame before it is read.
enum class FrameState {
  ready,    ///< can be read now; past the end of a source that does not know its length, too
  pending,  ///< has not arrived yet, and may never
  none,     ///< past the end, or behind a fault
};

/// The frames of a source, as GOP chains take them: each at its own position. Knows without waiting for input whether a frame
/// is there. Any number of threads may use it at once.
class FrameSupply {
 public:
  virtual ~FrameSupply() = default;

  [[nodiscard]] virtual FrameState state(std::int64_t index) = 0;
  /// Whether a new scene starts at a frame that is ready. False where nobody asked for scene cuts.
  [[nodiscard]] virtual bool starts_scene(std::int64_t index) = 0;

  /// Fills `frame` with frame `index`; false past the end and where the source failed, which ends the video.
  [[nodiscard]] virtual bool read(std::int64_t index, std::span<std::uint8_t> frame) = 0;
  /// The frame where it lies, as FrameSource::in_place().
  [[nodiscard]] virtual std::span<const std::uint8_t> in_place([[maybe_unused]] std::int64_t index) { return {}; }
  /// Whether the CPU can read what in_place() gives.
  [[nodiscard]] virtual bool in_host_memory() const { return true; }
  /// Whether threads gain by calling read() at once.
  [[nodiscard]] virtual bool concurrent() const = 0;
  /// What a trace calls read().
  [[nodiscard]] virtual const char* read_name() const = 0;

  /// Reads nothing more ahead from the source. What has been read is still handed out.
  virtual void stop() {}
  /// Frames before `index` will not be asked for again; those from there on may be, after rewind().
  virtual void forget_before([[maybe_unused]] std::int64_t index) {}
  /// Frames from `index` on are asked for again.
  virtual void rewind([[maybe_unused]] std::int64_t index) {}

  /// Frames of a source that cannot seek which have been read.
  [[nodiscard]] virtual std::int64_t frames_read() const { return 0; }
  /// What the source threw at the first frame that there is none of; null where the video just ended.
  [[nodiscard]] virtual std::exception_ptr fault() const = 0;
  /// Milliseconds spent reading, by one thread or by several in turn.
  [[nodiscard]] virtual double reading_ms() const = 0;
};

struct FrameSupplyOptions {
  bool scene_cuts = false;
  std::optional<std::vector<std::int64_t>> scene_starts = {};  ///< where scenes start, if that is known; else they are looked for
  bool rewindable = false;          ///< frames may be asked for again, until forget_before() gives them up
  std::int64_t read_ahead = 2;      ///< frames of a source that cannot seek which are in memory before anyone takes them
  int threads = 1;                  ///< that reading may take, where a thread of the supply's own reads
  TraceSink* trace = nullptr;
};

/// A supply for a seekable source: frames are read where they are wanted.
[[nodiscard]] std::unique_ptr<FrameSupply> make_seeking_supply(FrameSource& source, const FrameSupplyOptions& options);
/// One for any other: a thread reads them as they come, and `arrived` is notified of each.
[[nodiscard]] std::unique_ptr<FrameSupply> make_arriving_supply(FrameSource& source, const FrameSupplyOptions& options,
                                                                ChangeSignal& arrived);

}  // namespace c63
