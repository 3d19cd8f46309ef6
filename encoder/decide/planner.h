#pragma once

#include <cstdint>
#include <memory>

#include "c63/encoder.h"
#include "decide/frame_plan.h"
#include "decide/frame_weights.h"
#include "decide/lookahead_decisions.h"

namespace c63 {

/// What the scheduling of GOPs and the look-ahead know of a frame.
struct FramePosition {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< the first of its GOP
  // Found by the look-ahead.
  std::shared_ptr<const FrameWeights> weights = {};  ///< propagated_weights.h; null: none
  bool stays = false;        ///< the frame should use the same reference as the previous frame (reference_choice.h)
  bool is_replaced = false;  ///< the next frame stays, so this one must not become a repeat
  bool hardly_new = false;   ///< the frame may become a repeat of the previous one (reference_choice.h)
};

/// The result of coding a frame.
struct FrameOutcome {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;      ///< nothing was coded: the previous picture is shown again
  std::uint64_t bytes = 0;  ///< the coded frame, SOI to EOI
  FrameStatistics statistics;
};

/// Makes the plans of one GOP's frames, in order. A planner knows nothing of other GOPs, so plans do not depend on how many are
/// encoded at the same time. Only one thread at a time calls it.
class Planner {
 public:
  /// The lag() of planners that observe nothing.
  static constexpr int kNeverObserves = 1 << 30;

  virtual ~Planner() = default;

  /// The delay of observation, in frames, at least 1. Frame k is planned when exactly the GOP's frames up to k - lag() have been
  /// observed. With small values a GOP waits for itself.
  [[nodiscard]] virtual int lag() const { return kNeverObserves; }
  /// What the look-ahead decides in the GOP that begins at frame `key`. Only λ may differ between the GOPs of an encode.
  [[nodiscard]] virtual LookaheadDecisions lookahead([[maybe_unused]] std::int64_t key) const { return {}; }
  [[nodiscard]] virtual FramePlan plan(const FramePosition& frame) = 0;
  /// Receives the result of the next frame.
  virtual void observe([[maybe_unused]] const FrameOutcome& frame) {}
};

/// The planner of the settings' preset. The reference preset's planner makes constant plans: the course encoder's bytes.
[[nodiscard]] PlannerFactory make_planner_factory(const CodingSettings& settings);

}  // namespace c63
