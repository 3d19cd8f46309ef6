#include "codec/dct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/generators.h"
#include "support/guarded_buffer.h"

namespace c63::test {
namespace {

TEST(Cosines, AreRoundedToSixDecimals) {
  for (int r = 0; r < 8; ++r) {
    for (int i = 0; i < 8; ++i) {
      const double exact = std::cos((2 * r + 1) * i * std::numbers::pi / 16);
      const double rounded = std::round(exact * 1e6) / 1e6;
      EXPECT_EQ(kDctCosines[r][i], static_cast<float>(rounded)) << r << "," << i;
    }
  }
  EXPECT_EQ(kDctScale, static_cast<float>(0.70710678118654));
  EXPECT_NE(kDctScale * kDctScale, 0.5F);  // this is why DC is scaled in two steps
}

// The transforms with the operations of the course codec, in the same order: transform the rows, transpose, transform the
// rows again, transpose. Sums start at 0, and the result of every operation is rounded to binary32.

/// `weight(j, i)` is the weight of input j in output i.
template <typename Weight>
void transform_twice(float (&values)[64], Weight&& weight) {
  for (int pass = 0; pass < 2; ++pass) {
    float turned[64];
    for (int v = 0; v < 8; ++v) {
      for (int i = 0; i < 8; ++i) {
        volatile float sum = 0;
        for (int j = 0; j < 8; ++j) {
          const volatile float product = values[v * 8 + j] * weight(j, i);
          sum = sum + product;
        }
        turned[i * 8 + v] = sum;
      }
    }
    std::ranges::copy(turned, values);
  }
}

void scale(float (&values)[64]) {
  for (int i = 0; i < 64; ++i) {
    const volatile float once = values[i] * (i % 8 == 0 ? kDctScale : 1.0F);
    values[i] = once * (i / 8 == 0 ? kDctScale : 1.0F);
  }
}

void forward_as_described(const std::int16_t residual[64], float (&out)[64]) {
  std::copy_n(residual, 64, out);
  transform_twice(out, [](int j, int i) { return kDctCosines[j][i]; });
  scale(out);
}

void inverse_as_described(const float coefficients[64], std::int16_t out[64]) {
  float values[64];
  std::copy_n(coefficients, 64, values);
  scale(values);
  transform_twice(values, [](int j, int i) { return kDctCosines[i][j]; });
  for (int i = 0; i < 64; ++i) out[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(values[i]));
}

TEST(ForwardDct, RoundsAsDescribed) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    std::int16_t residual[64];
    for (auto& sample : residual) {
      sample = static_cast<std::int16_t>(round % 3 == 0 ? (random.below(2) != 0 ? 255 : -255)
                                                        : static_cast<int>(random.below(511)) - 255);
    }
    GuardedBuffer<float> coefficients(64);
    float expected[64];
    forward_dct(residual, coefficients.data(), kDctCosines);
    forward_as_described(residual, expected);
    ASSERT_TRUE(std::equal(expected, expected + 64, coefficients.data()));
    ASSERT_TRUE(coefficients.guards_intact());
  }
}

TEST(InverseDct, RoundsAsDescribed) {
  Random random(6);
  for (int round = 0; round < 3000; ++round) {
    float coefficients[64] = {};
    const std::uint32_t range = round % 3 == 0 ? 2'000'000 : 4000;
    for (auto& value : coefficients) {
      if (random.below(4) == 0) value = static_cast<float>(random.below(range)) - static_cast<float>(range / 2);
    }
    GuardedBuffer<std::int16_t> residual(64);
    std::int16_t expected[64];
    inverse_dct(coefficients, residual.data(), kDctCosines);
    inverse_as_described(coefficients, expected);
    ASSERT_TRUE(std::equal(expected, expected + 64, residual.data()));
    ASSERT_TRUE(residual.guards_intact());
  }
}

TEST(InverseDct, NoStreamReachesTheBoundsOfThirtyTwoBits) {
  // The largest coefficients that a stream can have: `dc` at index 0, `ac` at each of the other 63. DC has a factor of
  // 0.5. For the others, the bound assumes the factor 1, the largest product of two cosines.
  const double dc = 32768.0 * 255 / 4 + 1;
  const double ac = 1023.0 * 255 / 4 + 1;
  const double bound = 1.001 * (dc * 0.5 + 63 * ac);
  EXPECT_LT(bound, 2147483648.0);
}

TEST(Reconstruct, WrapsInSixteenBitsAndClamps) {
  EXPECT_EQ(reconstruct_sample(10, 20), 30);
  EXPECT_EQ(reconstruct_sample(-30, 20), 0);
  EXPECT_EQ(reconstruct_sample(250, 20), 255);
  EXPECT_EQ(reconstruct_sample(32767, 0), 255);
  EXPECT_EQ(reconstruct_sample(32767, 1), 0);  // 32768 wraps
  EXPECT_EQ(reconstruct_sample(-32768, 255), 0);
}

}  // namespace
}  // namespace c63::test
