// The GPU's quantizer must give the same levels as the codec's. Its code also runs on the host, so this test needs no
// GPU.

#include "cuda_me/kernels/frame_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "codec/quantization.h"
#include "support/generators.h"

namespace c63::cuda {
namespace {

constexpr int kLargestCoefficient = 16384;  // a little more than 64 · 255

void expect_same_level(float coefficient, int step) {
  ASSERT_EQ(StepQuantizer(step).magnitude(coefficient), static_cast<float>(quantize(coefficient, step)))
      << coefficient << " by " << step;
}

TEST(Quantizer, RoundsAsTheCodecAroundEveryTie) {
  for (int step = 1; step <= 255; ++step) {
    for (int n = 1; (2 * n - 1) * 2 * step <= kLargestCoefficient; ++n) {
      const auto tie = static_cast<float>((2 * n - 1) * 2 * step);
      float below = tie;
      float above = tie;
      expect_same_level(tie, step);
      for (int ulp = 0; ulp < 4; ++ulp) {
        below = std::nextafter(below, 0.0F);
        above = std::nextafter(above, 1e9F);
        expect_same_level(below, step);
        expect_same_level(above, step);
      }
    }
    expect_same_level(0.0F, step);
    expect_same_level(1e-30F, step);
  }
}

TEST(Quantizer, RoundsAsTheCodecAnywhere) {
  test::Random random(7);
  for (int i = 0; i < 2'000'000; ++i) {
    const int step = 1 + static_cast<int>(random.below(255));
    const float coefficient = static_cast<float>(random.next()) * (16384.0F / 4294967296.0F);
    expect_same_level(coefficient, step);
  }
}

TEST(Quantizer, RestoresAsTheCodec) {
  for (int step = 1; step <= 255; ++step) {
    for (int level = 0; level <= kMaxDcMagnitude; ++level) {
      ASSERT_EQ(StepQuantizer(step).restored(static_cast<float>(level)), static_cast<float>(dequantize(level, step)))
          << level << " by " << step;
    }
  }
}

}  // namespace
}  // namespace c63::cuda
