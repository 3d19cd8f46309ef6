// The course encoder's decisions: the same tables in every frame, all headers, a vector for every block of inter frames.

#include "decide/planner.h"

namespace c63 {
namespace {

class ReferencePlanner final : public Planner {
 public:
  explicit ReferencePlanner(const QuantizationTables& tables) : tables_(tables) {}

  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    return {.index = frame.index, .key = frame.key, .tables = tables_, .headers = {}, .unpredicted = nullptr};
  }

 private:
  QuantizationTables tables_;
};

}  // namespace

PlannerFactory make_planner_factory(const CodingSettings& settings) {
  return [tables = make_quantization_tables(settings.qp)] { return std::make_unique<ReferencePlanner>(tables); };
}

}  // namespace c63
