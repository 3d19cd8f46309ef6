// The planner of all presets. An encode has one set of decisions for all key frames and one for all inter frames
// (presets.h). For single frames, the planner changes only this: an inter frame may stay (reference_choice.h), a
// replaced frame has a higher λ, some key frames have finer tables, and frames that CodingSettings::frame_interval
// leaves out become repeats. The reference preset decides as the course encoder does: it uses that encoder's tables,
// writes all headers in every frame, and decides nothing by rate.

#include <algorithm>
#include <numeric>
#include <optional>

#include "codec/geometry.h"
#include "decide/planner.h"
#include "decide/presets.h"
#include "decide/reference_alternation.h"

namespace c63 {
namespace {

/// If a frame stays, it replaces the frame before it (reference_choice.h). No frame is predicted from a replaced frame,
/// so its λ is three quarters of an octave higher.
constexpr Weight kReplacedWeight = kPlainWeight + 3;

/// The finer tables of a key frame have a step that is four fifths as large. A smaller step needs a lower λ: half an
/// octave lower.
constexpr Weight kFinerWeight = kPlainWeight - 2;

/// Returns true if later frames will show the errors of this frame for long. `weights` say so if their mean is at least
/// a quarter of an octave below the plain weight.
bool are_seen_long(const FrameWeights& weights) {
  const auto sum = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  return sum <= (kPlainWeight - std::size_t{1}) * weights.size();
}

class PresetPlanner final : public Planner {
 public:
  PresetPlanner(const PresetDecisions& decisions, std::int64_t mcus, const CodingSettings& settings)
      : decisions_(decisions), frame_interval_(settings.frame_interval), key_interval_(settings.key_interval) {
    if (decisions.alternate) alternation_.emplace(mcus, settings.key_interval);
  }

  [[nodiscard]] int lag() const override { return alternation_ ? ReferenceAlternation::kLag : kNeverObserves; }

  [[nodiscard]] LookaheadDecisions lookahead(std::int64_t /*key*/) const override { return decisions_.lookahead; }
  [[nodiscard]] RateDecisions rate() const override { return decisions_.rate; }

  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    FramePlan plan{.index = frame.index,
                   .key = frame.key,
                   .tables = decisions_.tables,
                   .headers = frame.key ? decisions_.key_headers : decisions_.inter_headers,
                   .rate = decisions_.rate,
                   .weights = frame.weights};
    if (frame.key) key_ = frame.index;
    if ((frame.index - key_) % frame_interval_ != 0) {
      make_repeat(plan);
      return plan;
    }
    choose_tables(frame, plan);
    // If errors soon vanish, or a still picture shows them for long, it costs too much to count them differently.
    if (decisions_.may_ignore_activity && (frame.errors_vanish || (finer_ && stands_still_)))
      plan.rate.activity_power = 0;
    ReferenceAlternation::Choice choice{
        .stays = frame.stays, .precedes_staying = frame.is_replaced, .is_replaced = frame.is_replaced};
    if (alternation_) choice = alternation_->next();
    if (choice.stays) plan.headers.has_sof = false;
    if (choice.precedes_staying) plan.rate.repeats = false;
    // If look-ahead gave weights, they already raise λ in replaced frames. If errors vanish, a higher λ wins nothing.
    const bool raises_lambda = choice.is_replaced && !frame.weights && !frame.errors_vanish;
    if (raises_lambda) plan.rate.lambda = weighted_lambda(plan.rate.lambda, kReplacedWeight);
    return plan;
  }

  void observe(const FrameOutcome& frame) override {
    const auto bytes = static_cast<std::int64_t>(frame.bytes);
    const auto headers = static_cast<std::int64_t>(frame_header_bytes(decisions_.inter_headers));
    alternation_->observe(frame.repeat, 8 * (bytes - headers));
  }

 private:
  /// Gives a key frame finer tables if later frames will show its errors for long. One of the inter frames must send
  /// the usual tables again. It must not be a frame that may become a repeat, because a repeat has no headers. It is
  /// also not the first inter frame: looking ahead cannot tell yet if that frame is only noise. If hardly anything
  /// changes in the GOP, no frame sends them.
  void choose_tables(const FramePosition& frame, FramePlan& plan) {
    if (!decisions_.finer_tables) return;
    new_content_ = frame.key ? 0 : new_content_ + frame.new_content;
    if (frame.key) {
      stands_still_ = frame.hardly_new;
      finer_ = frame.weights && are_seen_long(*frame.weights);
      if (finer_) plan.rate.lambda = weighted_lambda(plan.rate.lambda, kFinerWeight);
    } else if (finer_ && !frame.hardly_new && frame.index > key_ + 1 && can_win_tables_back(frame.index)) {
      finer_ = false;
      plan.headers.quantization_tables = true;
      plan.rate.repeats = false;
    }
    if (finer_) plan.tables = *decisions_.finer_tables;
  }

  /// Returns true if the GOP probably saves more with the usual tables than the 1,592 bits that they take. They save
  /// about a fortieth of the bits above the least. The frames that are left are expected to be like those so far.
  [[nodiscard]] bool can_win_tables_back(std::int64_t index) const {
    constexpr std::int64_t kLeastNewContent = 500 * 16;  // 500 octaves
    constexpr std::int64_t kMostFrames = 1 << 20;        // so that products fit
    const std::int64_t coded = index - key_;
    return new_content_ / coded * (std::min(key_interval_, kMostFrames) - coded) >= kLeastNewContent;
  }

  /// Makes the plan of a frame that repeats the previous picture. Devices handle it like a frame that may become a
  /// repeat by rate. So the plan needs a λ above 0, and must allow repeats.
  static void make_repeat(FramePlan& plan) {
    plan.repeat = true;
    if (!plan.rate.any()) plan.rate.lambda = 1;
    plan.rate.repeats = true;
  }

  PresetDecisions decisions_;
  std::int64_t frame_interval_;
  std::int64_t key_interval_;
  std::int64_t key_ = 0;  ///< the GOP's first frame
  bool finer_ = false;  ///< the last tables that were sent are the finer ones
  bool stands_still_ = false;     ///< the GOP's first inter frame is hardly new
  std::int64_t new_content_ = 0;  ///< sum over the GOP's frames so far
  std::optional<ReferenceAlternation> alternation_;
};

}  // namespace

PlannerFactory make_planner_factory(const CodingSettings& settings) {
  return [decisions = preset_decisions(settings), mcus = Geometry(settings.width, settings.height).mcus(), settings] {
    return std::make_unique<PresetPlanner>(decisions, mcus, settings);
  };
}

}  // namespace c63
