// Tests the public motion estimator: with planes in host and device memory, with its own CUDA stream and with the
// caller's, and with invalid arguments.
#include "c63/cuda/motion_estimator.h"

#include <gtest/gtest.h>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/motion_oracle.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "support/expect_error.h"

namespace c63::cuda {
namespace {

using test::TestPlane;

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
    fill(current_, test::Content::smooth, 0, 1);
    fill(reference_, test::Content::smooth, 1, 2);
    expected_ = search(current_, reference_, 12);
  }
  [[nodiscard]] MotionPair pair() const {
    return {current_.view(), reference_.view()};
  }

  TestPlane current_{104, 72, 109};
  TestPlane reference_{104, 72, 104};
  test::FoundMotion expected_{0, 0};
};

TEST_F(MotionEstimatorOnDevice, FollowsTheRulesOnTheHost) {
  EXPECT_EQ(MotionEstimator::kernel_names().front(), "textbook");
  for (const std::string& kernel : MotionEstimator::kernel_names()) {
    MotionEstimator estimator({.width = 104, .height = 72, .range = 12, .kernel = kernel});
    for (int round = 0; round < 2; ++round) {
      const MotionField field = estimator.estimate(pair());
      EXPECT_EQ(field.columns, 13);
      EXPECT_EQ(field.rows, 9);
      EXPECT_EQ(field.vectors, expected_.vectors) << kernel;
      EXPECT_EQ(field.sads, expected_.sads) << kernel;
    }
  }
}

TEST_F(MotionEstimatorOnDevice, LeavesResultsOnTheDeviceOnTheCallersStream) {
  const Stream stream;
  DeviceBuffer<std::uint8_t> current(current_.samples.size());
  DeviceBuffer<std::uint8_t> reference(reference_.samples.size());
  copy_async(current.data(), current_.samples.data(), current.size(), stream);
  copy_async(reference.data(), reference_.samples.data(), reference.size(), stream);
  DeviceBuffer<MotionVector> vectors(expected_.vectors.size());
  fill_async(vectors.data(), 0xCD, vectors.bytes(), stream);
  MotionEstimator estimator({.width = 104, .height = 72, .range = 12});
  const MotionPair on_device{{current.data(), 104, 72, current_.pitch}, {reference.data(), 104, 72, reference_.pitch}};
  estimator.estimate_async({&on_device, 1}, {.vectors = vectors.data()}, nullptr, stream.get());
  std::vector<MotionVector> got(vectors.size());
  copy_async(got.data(), vectors.data(), got.size(), stream);
  stream.synchronize();
  EXPECT_EQ(got, expected_.vectors);
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
  TestPlane both(64, 96, 64);
  fill(both, test::Content::smooth, 0, 3);
  const ConstPlaneView frame{both.samples.data(), 64, 48, both.pitch};
  const ConstPlaneView field{both.samples.data(), 64, 48, 2 * std::ptrdiff_t{both.pitch}};
  TestPlane top(64, 48, 64);
  TestPlane even(64, 48, 64);
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) {
      top.at(x, y) = both.at(x, y);
      even.at(x, y) = both.at(x, 2 * y);
    }
  }
  const test::FoundMotion expected = search(even, top, 8);
  std::vector<MotionVector> vectors(expected.vectors.size());
  std::vector<std::uint16_t> sads(expected.sads.size());
  MotionEstimator estimator({.width = 64, .height = 48, .range = 8});
  const MotionPair pair{field, frame};
  estimator.estimate({&pair, 1}, {.vectors = vectors.data(), .sads = sads.data()});
  EXPECT_EQ(vectors, expected.vectors);
  EXPECT_EQ(sads, expected.sads);
}

TEST_F(MotionEstimatorOnDevice, RefusesPlanesOfAnotherSizeAndUnknownKernels) {
  MotionEstimator estimator({.width = 96, .height = 72});
  EXPECT_THROW(static_cast<void>(estimator.estimate(pair())), Error);
  EXPECT_EQ(id_of({.width = 96, .height = 72, .kernel = "quickest"}), "C63-MOTION-PLANE");
}

}  // namespace
}  // namespace c63::cuda
