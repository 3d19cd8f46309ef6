// Tests the choice of frames that stay: such a frame is predicted from the same reference as the previous frame.

#include "decide/reference_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace c63::test::reference_choice_test {
namespace {

constexpr Cost kLambda = 50 << kCostFractionBits;

/// The motion totals of a frame whose blocks all have this squared error per sample.
MotionTotals with_error(std::uint32_t mean, std::size_t blocks = 40, Cost lambda = kLambda) {
  return totals_of(SourceMotion(blocks, {{}, 64 * mean}), lambda);
}

TEST(ReferenceChoice, StaysIfThatIsAboutAsGood) {
  EXPECT_TRUE(is_to_stay(with_error(20), with_error(10), kLambda));
  EXPECT_TRUE(is_to_stay(with_error(20), with_error(20), kLambda));
  // The bits of a block are estimated as log2((error + 15) / 15), where 15 is 0.3λ. For an error of 20, this is 1.2. A
  // frame may stay if its estimate is less than an eighth larger: below 1.375, which means an error of about 24.
  EXPECT_TRUE(is_to_stay(with_error(20), with_error(22), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(20), with_error(27), kLambda));
  // For an error of 60, the estimate is 2.3. It may only be three sixteenths larger, which means an error of about 70.
  EXPECT_TRUE(is_to_stay(with_error(60), with_error(65), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(60), with_error(75), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(0), with_error(100), kLambda));
}

TEST(ReferenceChoice, AFrameThatIsMostlyNewStaysOnlyIfThatSavesBits) {
  EXPECT_TRUE(is_mostly_new(with_error(400), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(400), with_error(400), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(400), with_error(380), kLambda));
  EXPECT_TRUE(is_to_stay(with_error(400), with_error(330), kLambda));
}

TEST(ReferenceChoice, AFrameIsMostlyNewIfNearlyAllOfItIs) {
  // log2((error + 15) / 15) is two and a half for an error of about 70.
  EXPECT_FALSE(is_mostly_new(with_error(60), kLambda));
  EXPECT_TRUE(is_mostly_new(with_error(80), kLambda));
  EXPECT_FALSE(is_mostly_new(with_error(0), kLambda));
  EXPECT_FALSE(is_mostly_new(with_error(0, 0), kLambda));
  EXPECT_TRUE(is_mostly_new(with_error(65025, 100000, 1), 1));
  // A quarter, or a half, of the picture stands still.
  const auto with_still = [](std::size_t still) {
    SourceMotion motion(40, {{}, 64 * 4000});
    std::fill_n(motion.begin(), still, SourceBlock{});
    return totals_of(motion, kLambda);
  };
  EXPECT_TRUE(is_mostly_new(with_still(10), kLambda));
  EXPECT_FALSE(is_mostly_new(with_still(20), kLambda));
}

TEST(ReferenceChoice, NothingToChooseFromAdvances) {
  EXPECT_FALSE(is_to_stay(with_error(0), with_error(0), kLambda));
  EXPECT_FALSE(is_to_stay(with_error(0, 0), with_error(0, 0), kLambda));
}

TEST(ReferenceChoice, HoldsTheLargestErrors) {
  for (const Cost lambda : {1, kLambda, kMaxLambda}) {
    const MotionTotals none = with_error(0, 40, lambda);
    const MotionTotals most = with_error(65025, 40, lambda);
    EXPECT_FALSE(is_to_stay(most, most, lambda));
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

/// The motion totals of a frame with this mean error per sample. Half of the blocks have `share` percent of it.
MotionTotals half_with(int share, std::uint32_t mean) {
  SourceMotion motion(40, {{}, 64 * mean * (200 - share) / 100});
  std::fill_n(motion.begin(), 20, SourceBlock{{}, 64 * mean * share / 100});
  return totals_of(motion, kLambda);
}

TEST(ReferenceChoice, NoiseIsTheSameAtEveryDistance) {
  EXPECT_TRUE(is_noise(half_with(25, 64), with_error(64), kLambda));
  EXPECT_TRUE(is_noise(half_with(25, 64), with_error(68), kLambda));
  EXPECT_TRUE(is_noise(half_with(25, 64), with_error(60), kLambda));
  EXPECT_FALSE(is_noise(half_with(25, 64), with_error(69), kLambda));
  EXPECT_FALSE(is_noise(half_with(25, 64), with_error(59), kLambda));
  // A difference between two frames has the noise of both, so its squared error is twice that of one frame. Noise of
  // more than λ per sample in each frame is coded. So the limit for the difference is 2λ = 100.
  EXPECT_TRUE(is_noise(with_error(100), with_error(100), kLambda));
  EXPECT_FALSE(is_noise(with_error(101), with_error(101), kLambda));
  EXPECT_FALSE(is_noise(with_error(65025, 100000, kMaxLambda), with_error(65025, 100000, kMaxLambda), kMaxLambda));
  EXPECT_FALSE(is_noise(with_error(0), with_error(0, 0), kLambda)) << "there is no frame two before";
}

// The previous frame brought new content, so the frame before that differs more.
TEST(ReferenceChoice, NoiseIsTheSameInAllBlocks) {
  EXPECT_TRUE(is_noise(with_error(64), with_error(200), kLambda));
  EXPECT_TRUE(is_noise(half_with(60, 64), with_error(200), kLambda));
  EXPECT_FALSE(is_noise(half_with(40, 64), with_error(200), kLambda));
  EXPECT_FALSE(is_noise(with_error(101), with_error(200), kLambda));
}

}  // namespace
}  // namespace c63::test::reference_choice_test
