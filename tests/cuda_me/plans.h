#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "codec/geometry.h"
#include "decide/beam.h"
#include "decide/planner.h"
#include "decide/vectors.h"
#include "support/generators.h"

namespace c63::test {

/// Says which features random plans may have. In every random plan, tables differ between planes and change over time.
struct PlanKinds {
  bool still = true;        ///< frames that do not advance the reference
  /// About every second frame is decided by rate. Such a frame may become a repeat if `still` is false.
  bool by_rate = false;
  bool weighted = false;    ///< most frames decided by rate have weights: random ones, by activity, or for chroma
};

/// Makes random plans, but always the same plan for the same frame index. Every decoder accepts the frames: tables are
/// sent in key frames and whenever they change. A frame without SOF always follows an inter frame and has its tables.
class RandomPlanner final : public Planner {
 public:
  RandomPlanner(const Geometry& geometry, PlanKinds kinds) : mcus_(static_cast<std::size_t>(geometry.mcus())), kinds_(kinds) {}

  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    Random random(static_cast<std::uint64_t>(frame.index) + 1);
    for (int i = 0; i < 4; ++i) static_cast<void>(random.next());  // similar seeds give similar first numbers
    FramePlan plan;
    plan.index = frame.index;
    plan.key = frame.key;
    const bool still = kinds_.still && !frame.key && after_inter_ && random.below(3) == 0;
    const bool changes = frame.key || (!still && random.below(3) == 0);
    if (changes) tables_ = random_tables(random);
    plan.tables = tables_;
    plan.headers = {.quantization_tables = changes,
                    .has_sof = !still,
                    .code_tables = random.below(4) == 0,
                    .scan_components = random.below(2) == 0};
    if (kinds_.by_rate && random.below(2) == 0) {
      plan.rate.lambda = static_cast<Cost>(1 + random.below(60000));
      plan.rate.sad_per_bit = sad_per_bit(plan.rate.lambda);
      plan.rate.found_vectors = static_cast<int>(random.below(1 + kMaxFoundVectors));
      plan.rate.beam_width = static_cast<int>(1 + random.below(kMaxBeamWidth));
      plan.rate.unpredicted = random.below(4) != 0;
      plan.rate.choose_levels = random.below(4) != 0;
      plan.rate.repeats = !kinds_.still && random.below(2) == 0;
      if (kinds_.weighted) add_weights(plan, random);
    }
    after_inter_ = !frame.key;
    return plan;
  }

 private:
  void add_weights(FramePlan& plan, Random& random) const {
    if (random.below(2) == 0) plan.rate.activity_power = static_cast<int>(random.below(1 + kMostActivityPower));
    if (random.below(2) == 0) plan.rate.chroma_weight = static_cast<Weight>(random.below(kWeights));
    if (random.below(3) == 0) return;
    // Several MCUs in a row often have the same weight, as in real plans.
    auto weights = std::make_shared<FrameWeights>(mcus_);
    Weight weight = kPlainWeight;
    const std::uint32_t one_of = 1 + random.below(4);
    for (Weight& own : *weights) {
      if (random.below(one_of) == 0) weight = static_cast<Weight>(random.below(kWeights));
      own = weight;
    }
    plan.weights = std::move(weights);
  }

  /// Returns tables whose steps are at least 5. With smaller steps, a level could be too large for any code.
  static QuantizationTables random_tables(Random& random) {
    QuantizationTables tables;
    for (QuantizationTable& table : tables) {
      const std::uint32_t least = 5 + random.below(40);
      for (std::uint8_t& step : table) step = static_cast<std::uint8_t>(least + random.below(30));
    }
    return tables;
  }

  std::size_t mcus_;
  PlanKinds kinds_;
  QuantizationTables tables_{};
  bool after_inter_ = false;
};

/// Makes one planner for each GOP.
inline PlannerFactory random_planners(const CodingSettings& coding, PlanKinds kinds = {}) {
  return [geometry = Geometry(coding.width, coding.height), kinds] {
    return std::make_unique<RandomPlanner>(geometry, kinds);
  };
}

}  // namespace c63::test
