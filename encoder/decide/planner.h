#pragma once

#include <cstdint>
#include <memory>

#include "c63/encoder.h"
#include "decide/frame_plan.h"
#include "decide/frame_weights.h"
#include "decide/lookahead_decisions.h"

namespace c63 {

/// Where a frame stands, as the scheduling of GOPs knows it.
struct FramePosition {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< the first of its GOP
  // What looking ahead found.
  std::shared_ptr<const FrameWeights> weights = {};  ///< propagated_weights.h; null: none
  bool stays = false;        ///< it had better be predicted from the reference of the frame before (reference_choice.h)
  bool is_replaced = false;  ///< the next frame had; this one may be no repeat, then
  bool hardly_new = false;   ///< it may become a repeat of the frame before (reference_choice.h)
};

/// What became of a frame.
struct FrameOutcome {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;      ///< nothing was coded: the picture of the frame before is shown again
  std::uint64_t bytes = 0;  ///< SOI to EOI
  FrameStatistics statistics;
};

/// Makes the plans of the frames of one GOP, in order. A planner knows nothing of other GOPs, so that plans do not depend on
/// how many are encoded at the same time. One thread at a time calls it.
class Planner {
 public:
  /// A lag() of planners that observe nothing.
  static constexpr int kNeverObserves = 1 << 30;

  virtual ~Planner() = default;

  /// Frame k is planned when the frames of its GOP up to k - lag() have been observed, and no others. 1 or more: small
  /// values make a GOP wait for itself.
  [[nodiscard]] virtual int lag() const { return kNeverObserves; }
  /// What frames of the GOP that begins at frame `key` are looked at ahead for. In all GOPs of an encode only λ may differ.
  [[nodiscard]] virtual LookaheadDecisions lookahead([[maybe_unused]] std::int64_t key) const { return {}; }
  [[nodiscard]] virtual FramePlan plan(const FramePosition& frame) = 0;
  /// Is told what became of the next frame.
  virtual void observe([[maybe_unused]] const FrameOutcome& frame) {}
};

/// The planner of the settings' preset. The reference preset's is a constant: the course encoder's bytes.
[[nodiscard]] PlannerFactory make_planner_factory(const CodingSettings& settings);

}  // namespace c63
