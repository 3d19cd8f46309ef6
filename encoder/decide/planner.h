#pragma once

#include <cstdint>
#include <memory>

#include "c63/encoder.h"
#include "decide/frame_plan.h"
#include "decide/weights.h"
#include "decide/presets.h"

namespace c63 {

/// A frame's place in the video, and what the look-ahead found out about it.
struct FramePosition {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< the first of its GOP
  // The look-ahead sets the following members.
  std::shared_ptr<const FrameWeights> weights = {};  ///< weights of the frame's MCUs (propagated_weights.h); null: none
  bool stays = false;        ///< the frame should use the same reference as the previous frame (reference_choice.h)
  /// The next frame uses the same reference as this one, so this one must not become a repeat.
  bool is_replaced = false;
  /// The frame is so similar to the previous one that it may become a repeat (reference_choice.h). In a key
  /// frame, this says it of the next frame.
  bool hardly_new = false;
  /// The next frame inherits hardly any of this frame's errors (is_mostly_new()). So this frame is neither
  /// weighted nor filtered.
  bool errors_vanish = false;
  std::int64_t new_content = 0;  ///< new_content() of the frame; 0 in key frames
};

/// The result of coding a frame.
struct FrameOutcome {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;      ///< nothing was coded: the previous picture is shown again
  std::uint64_t bytes = 0;  ///< the coded frame, SOI to EOI
  FrameStatistics statistics;
};

/// Makes the plans of one GOP's frames, in order. A planner knows nothing of other GOPs, so plans do not depend on how
/// many GOPs are encoded at the same time. Only one thread at a time calls it.
class Planner {
 public:
  /// The lag() of planners that observe nothing.
  static constexpr int kNeverObserves = 1 << 30;

  virtual ~Planner() = default;

  /// The delay, in frames, after which the planner observes a frame; at least 1. When frame k is planned, exactly the
  /// GOP's frames up to k - lag() have been observed. With a short delay, a GOP must often wait for the results of its
  /// own frames.
  [[nodiscard]] virtual int lag() const { return kNeverObserves; }
  /// Returns what the look-ahead does in the GOP that begins at frame `key`. The result must be the same for all GOPs
  /// of an encode, except for λ.
  [[nodiscard]] virtual LookaheadDecisions lookahead([[maybe_unused]] std::int64_t key) const { return {}; }
  /// Returns the decisions by rate and distortion of most plans. Devices reserve memory for them when the encode starts.
  /// For other decisions, they allocate memory when a plan has them.
  [[nodiscard]] virtual RateDecisions rate() const { return {}; }
  [[nodiscard]] virtual FramePlan plan(const FramePosition& frame) = 0;
  /// Receives the result of the next frame.
  virtual void observe([[maybe_unused]] const FrameOutcome& frame) {}
};

/// Returns a factory of planners for the settings' preset. If nothing but the preset `reference` is set, the planner
/// makes the same plan for every key frame and the same plan for every inter frame. Up to qp 25, these plans give the
/// course encoder's bytes.
[[nodiscard]] PlannerFactory make_planner_factory(const CodingSettings& settings);

}  // namespace c63
