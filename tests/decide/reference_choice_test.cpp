// Tests which frames are predicted from the reference of the previous frame.

#include "decide/reference_choice.h"

#include <gtest/gtest.h>

namespace c63::test::reference_choice_test {
namespace {

constexpr Cost kLambda = 50 << kCostFractionBits;

/// Motion totals of blocks that all have this squared error per sample.
MotionTotals with_error(std::uint32_t mean, std::size_t blocks = 40, Cost lambda = kLambda) {
  return totals_of(SourceMotion(blocks, {{}, 64 * mean}), lambda);
}

TEST(ReferenceChoice, StaysIfThatIsAboutAsGood) {
  EXPECT_TRUE(is_to_stay(with_error(400), with_error(100), kLambda));
  EXPECT_TRUE(is_to_stay(with_error(400), with_error(400), kLambda));
  // 0.3λ is 15. An error of 400 is 4.8 octaves above it, and an eighth of that is 0.6 octaves.
  EXPECT_TRUE(is_to_stay(with_error(400), with_error(580), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(400), with_error(660), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(0), with_error(100), kLambda));
}

TEST(ReferenceChoice, NothingToChooseFromAdvances) {
  EXPECT_FALSE(is_to_stay(with_error(0), with_error(0), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(0, 0), with_error(0, 0), kLambda));
}

TEST(ReferenceChoice, HoldsTheLargestErrors) {
  for (const Cost lambda : {1, kLambda, kMaxLambda}) {
    const MotionTotals none = with_error(0, 40, lambda);
    const MotionTotals most = with_error(65025, 40, lambda);
    EXPECT_TRUE(is_to_stay(most, most, lambda));
    EXPECT_TRUE(is_to_stay(most, none, lambda));
    EXPECT_FALSE(is_to_stay(none, most, lambda));
  }
}

TEST(ReferenceChoice, AFrameThatIsHardlyNewMayBeARepeat) {
  EXPECT_TRUE(is_hardly_new(with_error(0), kLambda));
  EXPECT_TRUE(is_hardly_new(with_error(12), kLambda));
  EXPECT_FALSE(is_hardly_new(with_error(13), kLambda));
  EXPECT_FALSE(is_hardly_new(with_error(65025, 100000, kMaxLambda), kMaxLambda));
}

TEST(ReferenceChoice, NoiseIsTheSameAtEveryDistance) {
  EXPECT_TRUE(is_noise(with_error(64), with_error(64), kLambda));
  EXPECT_TRUE(is_noise(with_error(64), with_error(68), kLambda));
  EXPECT_TRUE(is_noise(with_error(64), with_error(60), kLambda));
  EXPECT_FALSE(is_noise(with_error(64), with_error(69), kLambda));
  EXPECT_FALSE(is_noise(with_error(64), with_error(59), kLambda));
  // If the noise of each frame exceeds λ per sample, it is coded. The difference of two frames has twice that noise.
  EXPECT_TRUE(is_noise(with_error(100), with_error(100), kLambda));
  EXPECT_FALSE(is_noise(with_error(101), with_error(101), kLambda));
  EXPECT_FALSE(is_noise(with_error(65025, 100000, kMaxLambda), with_error(65025, 100000, kMaxLambda), kMaxLambda));
  EXPECT_FALSE(is_noise(with_error(0), with_error(0, 0), kLambda)) << "there is no frame two before";
}

}  // namespace
}  // namespace c63::test::reference_choice_test
