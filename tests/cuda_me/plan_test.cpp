// Tests that the GPU codes frames as their plans say: with tables for each plane, with blocks without a vector, without
// some headers, and without advancing the reference.

#include <array>
#include <memory>
#include <vector>

#include "backend_test_support.h"
#include "c63/thread_pool.h"
#include "cuda_me/backend/cuda_backend.h"
#include "plans.h"

namespace c63::cuda {
namespace {

using test::Bytes;
using test::PlanKinds;

EncoderSettings settings_for(int width, int height) {
  EncoderSettings settings{.coding = {.width = width, .height = height, .key_interval = 7}};
  settings.measurement.keep_reconstruction = true;
  settings.measurement.keep_prediction = true;
  settings.measurement.keep_motion = true;
  return settings;
}

Encoded encode_planned(Encoder&& encoder, const Bytes& video, PlanKinds kinds = {}) {
  encoder.set_planner(test::random_planners(encoder.settings().coding, kinds));
  return encode_with(std::move(encoder), video, test::VideoSource::Kind::file);
}

class PlanTest : public BackendTest {};

TEST_F(PlanTest, GivesWhatTheCpuGives) {
  constexpr std::array<std::array<int, 2>, 8> kSizes = {
      {{2, 2}, {8, 66}, {66, 8}, {50, 40}, {112, 18}, {128, 16}, {130, 34}, {200, 120}}};
  for (const auto& [width, height] : kSizes) {
    const EncoderSettings settings = settings_for(width, height);
    const Bytes still = test::moving_video(width, height, 1);
    Bytes frozen;  // a still video: vectors repeat, with blocks without a vector in between
    for (int i = 0; i < 9; ++i) frozen.insert(frozen.end(), still.begin(), still.end());
    for (const Bytes& video : {test::moving_video(width, height, 23), test::random_video(width, height, 9),
                               test::extreme_video(width, height, 9), frozen}) {
      for (const PlanKinds kinds : {PlanKinds{.still = false}, PlanKinds{}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", still "
                                        << kinds.still);
        const Encoded gpu = encode_planned(Encoder(settings, make_backend_factories()), video, kinds);
        expect_same_frames(encode_planned(Encoder(settings), video, kinds), gpu);
        expect_decodes(gpu);
      }
    }
  }
}

TEST_F(PlanTest, DecidedFramesAmongOthers) {
  for (const auto& [width, height] : {std::array{50, 40}, {130, 34}}) {
    EncoderSettings settings = settings_for(width, height);
    Bytes video = test::moving_video(width, height, 23);
    const std::size_t size = frame_bytes(width, height);
    for (const std::size_t i : {4U, 5U, 12U}) {  // these frames equal the previous one
      std::copy_n(video.begin() + static_cast<std::ptrdiff_t>((i - 1) * size), size,
                  video.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    for (const PlanKinds kinds :
         {PlanKinds{.still = false, .by_rate = true}, PlanKinds{.by_rate = true},
          PlanKinds{.still = false, .by_rate = true, .weighted = true}, PlanKinds{.by_rate = true, .weighted = true}}) {
      settings.measurement = settings_for(width, height).measurement;
      settings.execution.lanes = 0;
      const Encoded cpu = encode_planned(Encoder(settings), video, kinds);
      for (const int lanes : {1, 3}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", still "
                                        << kinds.still << ", weighted " << kinds.weighted << ", " << lanes << " lanes");
        settings.execution.lanes = lanes;
        settings.measurement = settings_for(width, height).measurement;
        const Encoded gpu = encode_planned(Encoder(settings, make_backend_factories()), video, kinds);
        expect_same_frames(cpu, gpu);
        expect_decodes(gpu);
        settings.measurement = {};  // chains now run in two groups, because all frames of a batch are decided by rate
        EXPECT_TRUE(same_bytes(
            cpu.stream(), encode_planned(Encoder(settings, make_backend_factories()), video, kinds).stream()));
      }
    }
  }
}

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

TEST_F(PlanTest, SmallForSanitizers) {
  const Bytes video = test::moving_video(50, 40, 14);
  EncoderSettings settings = settings_for(50, 40);
  for (const int lanes : {1, 2}) {
    settings.execution.lanes = lanes;
    expect_same_frames(encode_planned(Encoder(settings), video),
                       encode_planned(Encoder(settings, make_backend_factories()), video));
  }
  settings.measurement = {};  // frames now run as graphs if the plan allows it
  settings.execution.lanes = 1;
  EXPECT_TRUE(same_bytes(encode_planned(Encoder(settings), video).stream(),
                         encode_planned(Encoder(settings, make_backend_factories()), video).stream()));
}

/// A GPU with one chain. The test submits one frame at a time, with its plan, and waits for the result.
class DrivenChain {
 public:
  explicit DrivenChain(const EncoderSettings& settings, bool graphs)
      : backend_(resolve(settings), {.graphs = graphs}, {}, 1) {}

  EncodedFrame encode(std::span<const std::uint8_t> samples, const FramePlan& plan) {
    std::ranges::copy(samples, backend_.input(0).begin());
    const ChainFrame frame{.chain = 0, .plan = plan};
    backend_.submit({&frame, 1});
    std::vector<CodedFrame> finished;
    backend_.collect(finished);
    return std::move(finished.front().frame);
  }

 private:
  CudaBackend backend_;
};

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
  const auto id_of = [&](bool after_inter, const FramePlan& plan) -> std::string {
    DrivenChain chain(settings, false);
    static_cast<void>(chain.encode(video, plan_of(0, true)));
    if (after_inter) static_cast<void>(chain.encode(video, plan_of(1, false)));
    try {
      static_cast<void>(chain.encode(video, plan));
    } catch (const Error& error) {
      return error.id();
    }
    return "none";
  };
  FramePlan still = plan_of(2, false);
  FramePlan still_key = plan_of(2, true);
  still.headers.has_sof = still_key.headers.has_sof = false;
  FramePlan weighted = plan_of(2, false);
  weighted.rate.lambda = 1000;
  weighted.weights = std::make_shared<FrameWeights>(3, kPlainWeight);
  FramePlan too_large = weighted;
  too_large.weights = std::make_shared<FrameWeights>(4, static_cast<Weight>(kWeights));
  EXPECT_EQ(id_of(true, still), "none");
  EXPECT_EQ(id_of(false, still), "C63-PLAN-REFERENCE");
  EXPECT_EQ(id_of(true, still_key), "C63-PLAN-REFERENCE");
  EXPECT_EQ(id_of(true, weighted), "C63-PLAN-WEIGHTS");
  EXPECT_EQ(id_of(true, too_large), "C63-PLAN-WEIGHTS");
}

}  // namespace
}  // namespace c63::cuda
