// Compares the search of true motion on a GPU with its definition and with the CPU.
#include "c63/cuda/fine_estimator.h"

#include <gtest/gtest.h>

#include "c63/cuda/devices.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "support/expect_error.h"
#include "support/fine_definition.h"

namespace c63::cuda {
namespace {

class FineEstimatorOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().state != DeviceState::usable) GTEST_SKIP() << "no usable GPU: " << devices().reason;
  }
};

TEST_F(FineEstimatorOnDevice, FindsWhatTheDefinitionSays) {
  const auto search = [](std::span<const MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results) {
    FineEstimator estimator(settings);
    for (int round = 0; round < 2; ++round) estimator.estimate(pairs, results);
  };
  test::expect_fine_definition({{"GPU", search}});
}

TEST_F(FineEstimatorOnDevice, ManyPairsOnTheDeviceAreThoseOfTheCpu) {
  constexpr int kWidth = 328;
  constexpr int kHeight = 184;
  constexpr std::size_t kFrames = 20;  // more pairs than one launch takes
  std::vector<parity::Plane> frames;
  for (unsigned i = 0; i < kFrames; ++i) frames.emplace_back(i % 5 == 4 ? parity::Content::random : parity::Content::shifted, kWidth, kHeight, kWidth + 3, i);
  const Stream stream;
  std::vector<DeviceBuffer<std::uint8_t>> memory;
  std::vector<MotionPair> pairs;
  std::vector<MotionPair> on_device;
  for (std::size_t i = 0; i < kFrames; ++i) {
    const ConstPlaneView plane = frames[i].view();
    const auto bytes = static_cast<std::size_t>(plane.pitch * plane.height);
    copy_async(memory.emplace_back(bytes).data(), plane.data, bytes, stream);
    if (i == 0) continue;
    const auto moved = [&](std::size_t index) { return ConstPlaneView{memory[index].data(), kWidth, kHeight, plane.pitch}; };
    pairs.push_back({plane, frames[i - 1].view()});
    on_device.push_back({moved(i), moved(i - 1)});
  }
  const std::size_t entries = pairs.size() * (kWidth / 8) * (kHeight / 8);
  DeviceBuffer<FineVector> vectors(entries);
  DeviceBuffer<std::uint16_t> sads(entries);
  DeviceBuffer<std::uint8_t> agrees(entries);
  for (const FineMotionSettings& settings : {FineMotionSettings{.fraction = 32, .smooth = 4, .check = 16},
                                             {.range = 500, .block = 16, .fraction = 4, .smooth = 20, .check = 8},
                                             {.range = 31, .block = 32, .fraction = 2, .check = 0}}) {
    fill_async(vectors.data(), 0xCD, vectors.bytes(), stream);
    fill_async(sads.data(), 0xCD, sads.bytes(), stream);
    fill_async(agrees.data(), 0xCD, agrees.bytes(), stream);
    FineEstimator estimator(settings);
    estimator.estimate_async(on_device, {.sads = sads.data(), .fine = vectors.data(), .agrees = agrees.data()}, stream.get());
    test::FoundFine found(entries);
    copy_async(found.vectors.data(), vectors.data(), entries, stream);
    copy_async(found.sads.data(), sads.data(), entries, stream);
    copy_async(found.agrees.data(), agrees.data(), entries, stream);
    stream.synchronize();
    test::FoundFine expected(entries);
    estimate_fine_motion(pairs, settings, expected.results(true));
    EXPECT_TRUE(found == expected) << "range " << settings.range << " block " << settings.block;
  }
}

TEST(FineEstimator, RefusesSettingsBeforeItLooksForADevice) {
  test::expect_error(ErrorKind::usage, "C63-SETTING", [] { const FineEstimator estimator({.block = 9}); });
}

}  // namespace
}  // namespace c63::cuda
