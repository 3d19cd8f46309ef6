// Tests the weights that say how far the errors of an MCU propagate to later frames.

#include "decide/propagated_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace c63::test::propagated_weights_test {
namespace {

constexpr Cost kLambda = 50 << kCostFractionBits;

class PropagatedWeights : public testing::Test {
 protected:
  /// The motion of a frame of 64x32 in which all blocks have the same vector and the same squared error per sample.
  static SourceMotion uniform(MotionVector vector, std::uint32_t mean_error) {
    return SourceMotion(32, {vector, 64 * mean_error});
  }
  static FrameWeights weights(const std::vector<SourceMotion>& later) {
    std::vector<ErrorFlow> flows;
    for (const SourceMotion& motion : later) flows.push_back(error_flow(motion, kLambda));
    std::vector<LaterFrame> frames;
    for (const ErrorFlow& flow : flows) frames.push_back({&flow, 1});
    return propagated_weights(Geometry(64, 32), frames);
  }
};

TEST_F(PropagatedWeights, OfTheLastFrameAreAlike) {
  EXPECT_EQ(weights({}), FrameWeights(8, kPlainWeight + 3));
  // The next frame is predicted so badly that it inherits none of this frame's errors.
  EXPECT_EQ(weights({uniform({0, 0}, 20000)}), FrameWeights(8, kPlainWeight + 1));
}

TEST_F(PropagatedWeights, ErrorsThatStayCountMore) {
  // Later frames are predicted perfectly, so they inherit all errors. With 1, 3 and 32 later frames, an error is
  // visible in 2, 4 and 33 frames, which is 1, 2 and 5 octaves. λ is proportional to this number to the power of -0.3,
  // which makes 1.2 quarters of an octave less for each octave. It begins at 0.6 quarters above the frame's λ.
  EXPECT_EQ(weights({uniform({0, 0}, 0)}), FrameWeights(8, kPlainWeight - 1));
  EXPECT_EQ(weights(std::vector(3, uniform({0, 0}, 0))), FrameWeights(8, kPlainWeight - 2));
  EXPECT_EQ(weights(std::vector(32, uniform({0, 0}, 0))), FrameWeights(8, kPlainWeight - 5));
  Weight last = 0;
  for (std::uint32_t error = 0; error < 1000; error += 10) {
    const Weight weight = weights(std::vector(32, uniform({0, 0}, error)))[0];
    EXPECT_GE(weight, last);
    last = weight;
  }
  EXPECT_EQ(last, kPlainWeight + 1);
}

TEST_F(PropagatedWeights, FollowMotion) {
  // Only block 0 of the next frame is predicted well. Its vector points 16 samples to the right, so it inherits errors
  // from the second MCU.
  SourceMotion motion = uniform({0, 0}, 60000);
  motion[0] = {{16, 0}, 0};
  const FrameWeights found = weights(std::vector<SourceMotion>{motion});
  EXPECT_LT(found[1], found[0]);
  EXPECT_EQ(found[0], kPlainWeight + 1);
}

TEST_F(PropagatedWeights, OfFramesThatNothingIsPredictedFromAreLess) {
  const ErrorFlow still = error_flow(uniform({0, 0}, 0), kLambda);
  const ErrorFlow none = error_flow(uniform({0, 0}, 60000), kLambda);
  const auto weight = [](const std::vector<LaterFrame>& later) { return propagated_weights(Geometry(64, 32), later)[0]; };
  EXPECT_EQ(weight({{&still, 2}, {&still, 3}}), kPlainWeight + 3);  // predicted from frames before this one
  EXPECT_EQ(weight({{&none, 1}, {&none, 1}}), kPlainWeight + 1);
  EXPECT_EQ(weight({{&none, 1}, {&none, 2}}), kPlainWeight);
  // Both later frames inherit all errors, so an error is visible in three frames. In the first line, both are predicted
  // from this frame. In the second line, the second later frame is predicted from the first. λ of a frame from which
  // two frames are predicted is a quarter of an octave lower.
  EXPECT_EQ(weight({{&still, 1}, {&still, 2}}), kPlainWeight - 2);
  EXPECT_EQ(weight({{&still, 1}, {&still, 1}}), kPlainWeight - 1);
}

TEST_F(PropagatedWeights, HoldHoweverManyBlocksArePredictedFromOne) {
  // Each block is predicted from a place nearer to the middle of the picture, and inherits all errors of that place. So
  // an error in the middle counts more and more, up to the limit kMostImportance.
  const Geometry geometry(1024, 256);
  SourceMotion motion;
  for (int row = 0; row < 32; ++row) {
    for (int column = 0; column < 128; ++column) {
      const auto towards = [](int from, int to) { return static_cast<std::int8_t>(8 * std::clamp(to - from, -15, 15)); };
      motion.push_back({{towards(column, 64), towards(row, 16)}, 0});
    }
  }
  const ErrorFlow flow = error_flow(motion, kLambda);
  const FrameWeights weights = propagated_weights(geometry, std::vector<LaterFrame>(32, {&flow, 1}));
  EXPECT_EQ(weights[8 * 64 + 32], 0);
  EXPECT_EQ(weights[0], kPlainWeight + 1);
}

}  // namespace
}  // namespace c63::test::propagated_weights_test
