// Presets decide the same for all key frames, and the same for all others. The reference preset's decisions are the course
// encoder's: its tables and all headers in every frame, nothing by rate.

#include "decide/planner.h"
#include "decide/presets.h"

namespace c63 {
namespace {

class PresetPlanner final : public Planner {
 public:
  explicit PresetPlanner(const PresetDecisions& decisions) : decisions_(decisions) {}

  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    FramePlan plan{.index = frame.index,
                   .key = frame.key,
                   .tables = decisions_.tables,
                   .headers = frame.key ? decisions_.key_headers : decisions_.inter_headers,
                   .unpredicted = nullptr,
                   .rate = decisions_.rate,
                   .weights = frame.weights};
    if (frame.stays) plan.headers.frame = false;
    if (frame.is_replaced) plan.rate.repeats = false;
    return plan;
  }

 private:
  PresetDecisions decisions_;
};

}  // namespace

PlannerFactory make_planner_factory(const CodingSettings& settings) {
  return [decisions = preset_decisions(settings)] { return std::make_unique<PresetPlanner>(decisions); };
}

}  // namespace c63
