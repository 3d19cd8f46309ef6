// Tests the public motion estimator: with planes in host and device memory, with its own CUDA stream and with the
// caller's, and with invalid arguments.
#include "c63/cuda/motion_estimator.h"

#include <gtest/gtest.h>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "parity/contents.h"
#include "support/expect_error.h"
#include "support/motion_definition.h"

namespace c63::cuda {
namespace {

std::string id_of(const MotionEstimatorOptions& options) {
  return test::error_id([&] { const MotionEstimator estimator(options); });
}

TEST(MotionEstimator, RefusesWhatItCannotSearch) {
  for (const MotionEstimatorOptions& options : {MotionEstimatorOptions{.width = 12, .height = 8},
                                                {.width = 8, .height = 0},
                                                {.width = 8, .height = 8, .range = 0},
                                                {.width = 8, .height = 8, .range = 128},
                                                {.width = 8, .height = 8, .zero_bias = -1},
                                                {.width = 8, .height = 8, .second_distance = 0}}) {
    EXPECT_EQ(id_of(options), "C63-MOTION-PLANE");
  }
}

class MotionEstimatorOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().state != DeviceState::usable) GTEST_SKIP() << "no usable GPU: " << devices().reason;
  }
};

TEST_F(MotionEstimatorOnDevice, LeavesResultsOnTheDeviceOnTheCallersStream) {
  const parity::Plane current(parity::Content::shifted, 104, 72, 109, 1);
  const parity::Plane reference(parity::Content::shifted, 104, 72, 104, 2);
  const MotionPair pair{current.view(), reference.view()};
  const test::FoundMotion expected = test::defined_motion({&pair, 1}, {.range = 12}, nullptr);
  const Stream stream;
  std::vector<DeviceBuffer<std::uint8_t>> memory;
  const auto on_device = [&](const ConstPlaneView& plane) {
    const auto bytes = static_cast<std::size_t>(plane.pitch * plane.height);
    copy_async(memory.emplace_back(bytes).data(), plane.data, bytes, stream);
    return ConstPlaneView{memory.back().data(), plane.width, plane.height, plane.pitch};
  };
  const MotionPair moved{on_device(pair.current), on_device(pair.reference)};
  DeviceBuffer<MotionVector> vectors(expected.vectors.size());
  fill_async(vectors.data(), 0xCD, vectors.bytes(), stream);
  MotionEstimator estimator({.width = 104, .height = 72, .range = 12});
  estimator.estimate_async({&moved, 1}, {.vectors = vectors.data()}, nullptr, stream.get());
  std::vector<MotionVector> got(vectors.size());
  copy_async(got.data(), vectors.data(), got.size(), stream);
  stream.synchronize();
  EXPECT_EQ(got, expected.vectors);
}

TEST_F(MotionEstimatorOnDevice, BatchesAndOptionsAreThoseOfTheDefinition) {
  test::expect_options_of_the_definition([](std::span<const MotionPair> pairs, const MotionSettings& settings,
                                            const MotionResults& results, const MotionVector* around) {
    const ConstPlaneView& plane = pairs[0].current;
    MotionEstimator estimator({.width = plane.width, .height = plane.height, .range = settings.range,
                               .zero_bias = settings.zero_bias, .second_distance = settings.second_distance});
    for (int round = 0; round < 2; ++round) estimator.estimate(pairs, results, around);
  });
}

/// The upper field of a frame begins at the frame's address. Its pitch is twice the frame's.
TEST_F(MotionEstimatorOnDevice, PlanesWithOneAddressAndDifferentPitchesAreDifferent) {
  const parity::Plane both(parity::Content::shifted, 64, 96, 64, 3);
  const ConstPlaneView frame{both.view().data, 64, 48, 64};
  const MotionPair pair{{frame.data, 64, 48, 128}, frame};
  const test::FoundMotion expected = test::defined_motion({&pair, 1}, {.range = 8}, nullptr);
  MotionEstimator estimator({.width = 64, .height = 48, .range = 8});
  const MotionField found = estimator.estimate(pair);
  EXPECT_EQ(found.vectors, expected.vectors);
  EXPECT_EQ(found.sads, expected.sads);
}

TEST_F(MotionEstimatorOnDevice, RefusesPlanesOfAnotherSizeAndUnknownKernels) {
  const parity::Plane plane(parity::Content::random, 104, 72, 104, 1);
  MotionEstimator estimator({.width = 96, .height = 72});
  EXPECT_EQ(test::error_id([&] {
              static_cast<void>(estimator.estimate({plane.view(), plane.view()}));
            }),
            "C63-MOTION-PLANE");
  EXPECT_EQ(id_of({.width = 96, .height = 72, .kernel = "quickest"}), "C63-MOTION-PLANE");
  EXPECT_EQ(MotionEstimator::kernel_names().front(), "textbook");
}

}  // namespace
}  // namespace c63::cuda
