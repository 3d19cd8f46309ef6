// Tests the weights of MCUs: what a weight does to λ and costs, and which weights follow from activity.

#include <gtest/gtest.h>

#include <cmath>

#include "decide/beam.h"
#include "decide/weights.h"
#include "support/generators.h"

namespace c63::test::weights_test {
namespace {

TEST(Weights, AreQuartersOfAnOctaveOfLambda) {
  for (int w = 0; w < kWeights; ++w) {
    const auto weight = static_cast<Weight>(w);
    EXPECT_NEAR(weighted_lambda(10000, weight), 10000 * std::exp2((w - kPlainWeight) / 4.0), 1) << w;
    EXPECT_GE(weighted_lambda(1, weight), 1);
    EXPECT_LE(weighted_lambda(kMaxLambda, weight), kMaxLambda);
    for (int other = 0; other < kWeights; ++other) {
      const auto to = static_cast<Weight>(other);
      EXPECT_NEAR(static_cast<double>(reweigh(1 << 20, weight, to)), std::exp2(20 + (other - w) / 4.0), 16);
      // reweigh() must not overflow for a cost of 2^42, which is about the largest cost of a row.
      EXPECT_GT(reweigh(std::int64_t{1} << 42, weight, to), 0);
    }
  }
  EXPECT_EQ(weighted_lambda(12345, kPlainWeight), 12345);
  EXPECT_EQ(reweigh(12345, 3, 3), 12345);
}

TEST(Weights, ABeamGoesOnInOrder) {
  Beam beam;
  const std::array<Cost, 5> costs = {0, 1000, 70000, kMaxBeamCost, kUnreachable};
  for (std::size_t i = 0; i < costs.size(); ++i) beam.states[i].cost = costs[i];
  Beam dearer = beam;
  reweigh_beam(dearer, 5, kPlainWeight, kPlainWeight + 4);
  EXPECT_EQ(dearer.states[0].cost, 0);
  EXPECT_EQ(dearer.states[1].cost, 2000);
  EXPECT_EQ(dearer.states[2].cost, 140000);
  EXPECT_EQ(dearer.states[3].cost, kMaxBeamCost);
  EXPECT_EQ(dearer.states[4].cost, kUnreachable);
  reweigh_beam(beam, 5, 16, 0);
  EXPECT_EQ(beam.states[1].cost, 62);
  EXPECT_EQ(beam.states[3].cost, kMaxBeamCost / 16);
  EXPECT_EQ(beam.states[4].cost, kUnreachable);
}

TEST(Activity, LogarithmsAreThoseOfTheNumber) {
  EXPECT_EQ(log2_in_sixteenths(1), 0);
  EXPECT_EQ(log2_in_sixteenths(2), 16);
  EXPECT_EQ(log2_in_sixteenths(3), 24);
  EXPECT_EQ(log2_in_sixteenths(0x80000000U), 16 * 31);
  EXPECT_EQ(log2_in_sixteenths(0xFFFFFFFFU), 16 * 31 + 15);
  for (std::uint32_t value = 1; value < 100000; value += 7) {
    EXPECT_NEAR(log2_in_sixteenths(value), 16 * std::log2(value), 2.5) << value;
  }
}

TEST(Activity, IsTheLogarithmOfTheVariance) {
  // Samples alternate between 128 + d and 128 - d like a checkerboard. Their variance is d².
  for (const int d : {0, 1, 10, 50, 127}) {
    Bytes luma;
    for (int i = 0; i < 256; ++i) luma.push_back(static_cast<std::uint8_t>(128 + ((i / 16 + i) % 2 == 0 ? d : -d)));
    EXPECT_NEAR(activity({luma.data(), 16, 16, 16}, 0, 0), 16 * std::log2(4096.0 * (d * d + 29)), 2.5) << d;
  }
}

TEST(Activity, LivelyPlacesGetALargerLambda) {
  Random random(1);
  Bytes luma(64 * 32);
  for (std::size_t i = 0; i < luma.size(); ++i) {
    const bool lively = i % 64 >= 32;
    luma[i] = static_cast<std::uint8_t>(lively ? 255 * random.below(2) : 100);
  }
  // The variance is 0 in the left half and about 16,250 on the right. A constant of 29 is added to both, so their ratio
  // is 560. At full power (8), the weights would differ by more than their range allows, so they are limited to 0 and
  // 16.
  EXPECT_EQ(activity_weights({luma.data(), 64, 32, 64}, 8), (FrameWeights{0, 0, 16, 16, 0, 0, 16, 16}));
  // At power 2, λ grows with the eighth root of the ratio. The root is 4.6 quarters of an octave, half of it on each
  // side of the mean.
  EXPECT_EQ(activity_weights({luma.data(), 64, 32, 64}, 2), (FrameWeights{6, 6, 10, 10, 6, 6, 10, 10}));
  EXPECT_EQ(activity_weights({luma.data(), 64, 32, 64}, 0), FrameWeights(8, kPlainWeight));
  for (std::size_t i = 0; i < luma.size(); ++i) {
    if (i % 64 >= 32) luma[i] = static_cast<std::uint8_t>((i + i / 64) % 2 == 0 ? 100 : 116);
  }
  // With variances of 0 and 64 the ratio is 3.2. At power 8, λ grows with its square root, which is 3.4 quarters of an
  // octave.
  EXPECT_EQ(activity_weights({luma.data(), 64, 32, 64}, 8), (FrameWeights{6, 6, 10, 10, 6, 6, 10, 10}));
  EXPECT_EQ(activity_weights({luma.data() + 32, 32, 32, 64}, 8), FrameWeights(4, kPlainWeight));
}

}  // namespace
}  // namespace c63::test::weights_test
