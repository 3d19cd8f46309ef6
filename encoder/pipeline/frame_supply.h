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

/// What is known about a frame before it is read.
enum class FrameState {
  ready,    ///< can be read now; also past the end of a source of unknown length
  pending,  ///< has not arrived yet, and may never
  none,     ///< past the end, or after an error
};

/// The frames of a source, which each GOP chain takes from its own position on. It knows without waiting whether a frame has
/// arrived. Any number of threads may use it at once.
class FrameSupply {
 public:
  virtual ~FrameSupply() = default;

  [[nodiscard]] virtual FrameState state(std::int64_t index) = 0;
  /// Returns true if a new scene starts at a frame that is ready. False if nobody asked for scene cuts.
  [[nodiscard]] virtual bool starts_scene(std::int64_t index) = 0;

  /// Fills `frame` with frame `index`. Returns false past the end, and after an error of the source, which ends the video.
  [[nodiscard]] virtual bool read(std::int64_t index, std::span<std::uint8_t> frame) = 0;
  /// Returns the frame's samples in place, as FrameSource::in_place().
  [[nodiscard]] virtual std::span<const std::uint8_t> in_place([[maybe_unused]] std::int64_t index) { return {}; }
  /// Returns true if the CPU can read the samples of in_place().
  [[nodiscard]] virtual bool in_host_memory() const { return true; }
  /// Returns true if reading is faster when several threads call read() at once.
  [[nodiscard]] virtual bool concurrent() const = 0;
  /// The name of read() in a trace.
  [[nodiscard]] virtual const char* read_name() const = 0;

  /// Ends reading ahead. Frames that were read are still handed out.
  virtual void stop() {}
  /// Says that frames before `index` will not be asked for again. Later ones may be, after rewind().
  virtual void forget_before([[maybe_unused]] std::int64_t index) {}
  /// Says that frames from `index` on will be asked for again.
  virtual void rewind([[maybe_unused]] std::int64_t index) {}

  /// Returns how many frames of a source that cannot seek have been read.
  [[nodiscard]] virtual std::int64_t frames_read() const { return 0; }
  /// Returns the error that ended the source, or null if the video ended normally.
  [[nodiscard]] virtual std::exception_ptr fault() const = 0;
  /// Returns the milliseconds spent reading, by one thread or by several in turn.
  [[nodiscard]] virtual double reading_ms() const = 0;
};

struct FrameSupplyOptions {
  bool scene_cuts = false;
  std::optional<std::vector<std::int64_t>> scene_starts = {};  ///< where scenes start; if unknown, the supply finds them
  bool rewindable = false;          ///< frames may be asked for again until forget_before()
  std::int64_t read_ahead = 2;      ///< frames of a source that cannot seek that may wait in memory
  int threads = 1;                  ///< for reading, if the supply has a reading thread
  TraceSink* trace = nullptr;
};

/// Makes a supply for a seekable source. Whoever wants a frame reads it.
[[nodiscard]] std::unique_ptr<FrameSupply> make_seeking_supply(FrameSource& source, const FrameSupplyOptions& options);
/// Makes a supply for any other source. A thread reads frames as they come, and notifies `arrived` of each.
[[nodiscard]] std::unique_ptr<FrameSupply> make_arriving_supply(FrameSource& source, const FrameSupplyOptions& options,
                                                                ChangeSignal& arrived);

}  // namespace c63
