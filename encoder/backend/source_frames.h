#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decide/cost.h"
#include "decide/frame_weights.h"
#include "decide/reference_choice.h"

namespace c63 {

/// A frame as it is to be coded.
struct LookedAt {
  std::span<const std::uint8_t> in_place = {};  ///< its samples where they lie; empty: they were put where they were wanted
  /// What errors are measured against where it was filtered: in memory that is kept so, or where it lies.
  std::shared_ptr<const std::vector<std::uint8_t>> original = {};
  std::span<const std::uint8_t> original_in_place = {};
  std::shared_ptr<const FrameWeights> weights = {};  ///< propagated_weights.h; null: none
  double filter_ms = 0;                              ///< milliseconds that it took to filter it
};

/// The frames of one GOP as they come, and what is worked out of their samples before they are coded: wherever a device has
/// them. Places count from the oldest frame that is kept. One thread at a time uses it.
class SourceFrames {
 public:
  virtual ~SourceFrames() = default;

  /// Forgets all frames. For those to come a bit is worth `lambda`.
  virtual void begin_gop(Cost lambda) = 0;
  /// Forgets the oldest frame.
  virtual void pop_front() = 0;

  /// Where the samples of the next frame are to be put, in linear layout.
  [[nodiscard]] virtual std::span<std::uint8_t> input() = 0;
  /// Adds the frame that was put there, and finds its motion against the frame before it and against the one before that, where
  /// these are kept.
  virtual std::array<MotionTotals, 2> push() = 0;
  /// Finds the newest frame's motion against the one `back` frames before it, 3 or more.
  virtual MotionTotals find_motion(int back) = 0;
  /// The newest frame will be predicted from the one this many frames before it, against which its motion was found; 0:
  /// from none.
  virtual void predict_from(int back) = 0;

  /// The frame at a place will be looked at next, and all that it is filtered with are there: work on it may begin
  /// during what comes before that.
  virtual void begin_look([[maybe_unused]] std::size_t place) {}
  /// The frame at a place as it is to be coded: in `input` where it does not lie in place, which it does always or never.
  [[nodiscard]] virtual LookedAt look_at(std::size_t place, std::span<std::uint8_t> input) = 0;
  [[nodiscard]] virtual bool has_in_place() const { return false; }
};

}  // namespace c63
