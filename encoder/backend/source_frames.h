#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decide/cost.h"
#include "decide/weights.h"
#include "decide/reference_choice.h"

namespace c63 {

/// What looking ahead gives for one frame: the samples to be coded, and the frame's weights.
struct PreparedFrame {
  /// The samples, if they lie in the memory of SourceFrames. Empty: they were written to the memory `input` (see
  /// look_at()).
  std::span<const std::uint8_t> in_place = {};
  /// If a filter changed the frame: the samples before the filter, against which errors are measured. `original` has
  /// them in memory that does not change; original_in_place has them in the memory of SourceFrames. Both are empty if
  /// the frame is not filtered.
  std::shared_ptr<const std::vector<std::uint8_t>> original = {};
  std::span<const std::uint8_t> original_in_place = {};
  std::shared_ptr<const FrameWeights> weights = {};  ///< weights of the frame's MCUs (propagated_weights.h); null: none
  double filter_ms = 0;                              ///< time that filtering took
};

/// The latest frames of one GOP and the results of looking ahead, in a device's memory or in host memory. The index of
/// a frame is its distance from the oldest kept frame, in frames. Only one thread at a time may use it.
class SourceFrames {
 public:
  virtual ~SourceFrames() = default;

  /// Forgets all frames. `lambda` is λ for the next frames.
  virtual void begin_gop(Cost lambda) = 0;
  /// Forgets the oldest frame.
  virtual void pop_front() = 0;

  /// Returns the memory for the samples of the next frame, in linear layout.
  [[nodiscard]] virtual std::span<std::uint8_t> input() = 0;
  /// Adds the frame whose samples were written to input(). Finds its motion against each of the two frames before it
  /// that is still kept.
  virtual std::array<MotionTotals, 2> push() = 0;
  /// Finds the motion of the newest frame against the frame `back` frames before it. `back` is at least 3, because
  /// push() finds the motion against the two nearest frames.
  virtual MotionTotals find_motion(int back) = 0;
  /// Sets the reference of the newest frame: the frame `back` frames before it. Its motion against that frame must have
  /// been found. 0: no reference.
  virtual void predict_from(int back) = 0;

  /// Says that look_at(index, false) will be called next, and that all frames that the filter needs for it were pushed.
  /// So work may begin.
  virtual void begin_look([[maybe_unused]] std::size_t index) {}
  /// Returns the frame at an index, ready for coding. A `plain` frame is neither filtered nor weighted. If
  /// has_in_place() is true, it always lies in place; otherwise it is always written to `input`.
  [[nodiscard]] virtual PreparedFrame look_at(std::size_t index, bool plain, std::span<std::uint8_t> input) = 0;
  [[nodiscard]] virtual bool has_in_place() const { return false; }
};

}  // namespace c63
