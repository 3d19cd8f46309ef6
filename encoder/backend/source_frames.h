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

/// A frame ready for coding.
struct LookedAt {
  std::span<const std::uint8_t> in_place = {};  ///< its samples in place; empty: they were put where requested
  /// The original of a filtered frame, to measure errors against: in memory that does not change, or in place.
  std::shared_ptr<const std::vector<std::uint8_t>> original = {};
  std::span<const std::uint8_t> original_in_place = {};
  std::shared_ptr<const FrameWeights> weights = {};  ///< propagated_weights.h; null: none
  double filter_ms = 0;                              ///< milliseconds of filtering
};

/// The latest frames of one GOP, and the results of looking ahead, in a device's or the host's memory. Places count
/// from the oldest kept frame. One thread at a time uses it.
class SourceFrames {
 public:
  virtual ~SourceFrames() = default;

  /// Forgets all frames. `lambda` is the price of a bit for the next ones.
  virtual void begin_gop(Cost lambda) = 0;
  /// Forgets the oldest frame.
  virtual void pop_front() = 0;

  /// Returns the place for the samples of the next frame, in linear layout.
  [[nodiscard]] virtual std::span<std::uint8_t> input() = 0;
  /// Adds the frame that was put there. Finds its motion against the previous frame and the one before it, if these are
  /// kept.
  virtual std::array<MotionTotals, 2> push() = 0;
  /// Finds the newest frame's motion against the frame `back` frames before it; `back` is at least 3.
  virtual MotionTotals find_motion(int back) = 0;
  /// Says from which frame the newest one will be predicted: `back` frames before it. Its motion against that frame
  /// must have been found. 0: from none.
  virtual void predict_from(int back) = 0;

  /// Says that look_at() of this place comes next, and that all frames for its filter are there. Work on it may begin
  /// now.
  virtual void begin_look([[maybe_unused]] std::size_t place) {}
  /// Returns the frame at a place, ready for coding: in place or in `input`. It is always in place, or never
  /// (has_in_place()).
  [[nodiscard]] virtual LookedAt look_at(std::size_t place, std::span<std::uint8_t> input) = 0;
  [[nodiscard]] virtual bool has_in_place() const { return false; }
};

}  // namespace c63
