// Tests that the GPU codes frames as their plans say: with tables for each plane, with blocks without a vector, without
// some headers, and without advancing the reference.

#include <array>
#include <memory>
#include <vector>

#include "backend_test_support.h"
#include "c63/thread_pool.h"
#include "cuda_me/backend/cuda_backend.h"
#include "decide/beam.h"
#include "decide/planner.h"
#include "decide/vectors.h"
#include "support/expect_error.h"

namespace c63::cuda {
namespace {

using test::Bytes;
using test::Random;

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
  RandomPlanner(const Geometry& geometry, PlanKinds kinds)
      : mcus_(static_cast<std::size_t>(geometry.mcus())), kinds_(kinds) {}

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

/// Returns settings for a small video. `keeps` says whether pictures and vectors are kept, too.
EncoderSettings settings_for(int width, int height, bool keeps) {
  EncoderSettings settings{.coding = {.width = width, .height = height, .key_interval = 7}};
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion =
      keeps;
  return settings;
}

Encoded encode_planned(Encoder&& encoder, const Bytes& video, PlanKinds kinds = {}) {
  const CodingSettings& coding = encoder.settings().coding;
  encoder.set_planner([geometry = Geometry(coding.width, coding.height), kinds] {
    return std::make_unique<RandomPlanner>(geometry, kinds);
  });
  return encode_with(std::move(encoder), video);
}

/// Expects the frames of the CPU from the GPU, for random plans of all kinds. Without pictures and vectors, the GPU
/// runs frames as graphs if the plan allows it, or in two groups if all frames of a batch are decided by rate.
void expect_what_the_cpu_gives(int width, int height, const Bytes& video) {
  for (const PlanKinds kinds :
       {PlanKinds{.still = false}, PlanKinds{}, PlanKinds{.still = false, .by_rate = true}, PlanKinds{.by_rate = true},
        PlanKinds{.still = false, .by_rate = true, .weighted = true}, PlanKinds{.by_rate = true, .weighted = true}}) {
    EncoderSettings settings = settings_for(width, height, true);
    const Encoded cpu = encode_planned(Encoder(settings), video, kinds);
    for (const int lanes : {1, 3}) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << ", still " << kinds.still << ", by rate "
                                      << kinds.by_rate << ", weighted " << kinds.weighted << ", " << lanes << " lanes");
      for (const bool keeps : {true, false}) {
        settings = settings_for(width, height, keeps);
        settings.execution.lanes = lanes;
        const Encoded gpu = encode_planned(Encoder(settings, make_backend_factories()), video, kinds);
        if (keeps) expect_same_frames(cpu, gpu);
        if (keeps) expect_decodes(gpu);
        EXPECT_TRUE(same_bytes(cpu.stream(), gpu.stream()));
      }
    }
  }
}

class PlanTest : public BackendTest {};

TEST_F(PlanTest, GivesWhatTheCpuGives) {
  constexpr std::array<std::array<int, 2>, 8> kSizes = {
      {{2, 2}, {8, 66}, {66, 8}, {50, 40}, {112, 18}, {128, 16}, {130, 34}, {200, 120}}};
  for (const auto& [width, height] : kSizes) {
    const Bytes still = test::moving_video(width, height, 1);
    Bytes frozen;  // a still video: vectors repeat, with blocks without a vector in between
    for (int i = 0; i < 9; ++i) frozen.insert(frozen.end(), still.begin(), still.end());
    Bytes moving = test::moving_video(width, height, 23);
    for (const std::size_t i : {4U, 5U, 12U}) {  // these frames equal the previous one
      const auto frame = moving.begin() + static_cast<std::ptrdiff_t>(i * still.size());
      std::copy_n(frame - static_cast<std::ptrdiff_t>(still.size()), still.size(), frame);
    }
    for (const Bytes& video :
         {moving, test::random_video(width, height, 9), test::extreme_video(width, height, 9), frozen}) {
      expect_what_the_cpu_gives(width, height, video);
    }
  }
}

TEST_F(PlanTest, SmallForSanitizers) { expect_what_the_cpu_gives(50, 40, test::moving_video(50, 40, 14)); }

TEST_F(PlanTest, LanesGraphsAndWaysDoNotChangeBytes) {
  const Bytes video = test::moving_video(80, 48, 60);
  EncoderSettings settings{.coding = {.width = 80, .height = 48, .key_interval = 11}};
  const Encoded expected = encode_planned(Encoder(settings), video);
  for (const int lanes : {1, 2, 3, 6}) {
    settings.execution.lanes = lanes;
    for (const CudaBackendOptions& options : ways_to_encode()) {
      SCOPED_TRACE(testing::Message() << lanes << " lanes");
      const Encoded run = encode_planned(Encoder(settings, make_backend_factories(options)), video);
      EXPECT_TRUE(same_bytes(expected.stream(), run.stream()));
    }
  }
}

TEST_F(PlanTest, RefusesPlansThatNoDecoderFollows) {
  const Bytes video = test::moving_video(32, 32, 1);
  const EncoderSettings settings{.coding = {.width = 32, .height = 32}};
  const auto plan_of = [](std::int64_t index, bool key) {
    FramePlan plan;
    plan.index = index;
    plan.key = key;
    plan.tables = make_quantization_tables(25);
    return plan;
  };
  const auto id_of = [&](bool after_inter, const FramePlan& plan) {
    CudaBackend backend(resolve(settings), {.graphs = false}, {}, 1);
    const auto encode = [&](const FramePlan& of_frame) {
      std::ranges::copy(video, backend.input(0).begin());
      const ChainFrame frame{.chain = 0, .plan = of_frame};
      backend.submit({&frame, 1});
      std::vector<CodedFrame> finished;
      backend.collect(finished);
    };
    encode(plan_of(0, true));
    if (after_inter) encode(plan_of(1, false));
    return test::error_id([&] { encode(plan); });
  };
  FramePlan still = plan_of(2, false);
  FramePlan still_key = plan_of(2, true);
  still.headers.has_sof = still_key.headers.has_sof = false;
  FramePlan weighted = plan_of(2, false);
  weighted.rate.lambda = 1000;
  weighted.weights = std::make_shared<FrameWeights>(3, kPlainWeight);
  FramePlan too_large = weighted;
  too_large.weights = std::make_shared<FrameWeights>(4, static_cast<Weight>(kWeights));
  EXPECT_EQ(id_of(true, still), "");
  EXPECT_EQ(id_of(false, still), "C63-PLAN-REFERENCE");
  EXPECT_EQ(id_of(true, still_key), "C63-PLAN-REFERENCE");
  EXPECT_EQ(id_of(true, weighted), "C63-PLAN-WEIGHTS");
  EXPECT_EQ(id_of(true, too_large), "C63-PLAN-WEIGHTS");
}

}  // namespace
}  // namespace c63::cuda
