#include "decide/forward_transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "codec/quantization.h"
#include "support/generators.h"

namespace c63::test::forward_transform_test {
namespace {

using Block = std::array<std::int16_t, 64>;

Block transformed(const Block& residual) {
  Block coefficients;
  coefficients.fill(0x5A5A);
  forward_transform(residual.data(), coefficients.data(), kTransformWeights, kZigZagPlace);
  return coefficients;
}

/// Returns the coefficients of a residual by the definition of the orthonormal transform, without rounding. The
/// residual is in half samples. The coefficients have the scale and the zig-zag order of the fast transform.
std::array<double, 64> exact(const Block& residual) {
  std::array<double, 64> result{};
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < 8; ++u) {
      double sum = 0;
      for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8; ++x) {
          sum += residual[static_cast<std::size_t>(y * 8 + x)] / 2.0 * std::cos((2 * x + 1) * u * std::numbers::pi / 16) *
                 std::cos((2 * y + 1) * v * std::numbers::pi / 16);
        }
      }
      const double norm = (u == 0 ? std::sqrt(0.125) : 0.5) * (v == 0 ? std::sqrt(0.125) : 0.5);
      result[kZigZagPlace[static_cast<std::size_t>(v * 8 + u)]] = sum * norm * (1 << kCoefficientFractionBits);
    }
  }
  return result;
}

TEST(ForwardTransform, WeightsAreTheRoundedCosines) {
  for (int r = 0; r < 8; ++r) {
    for (int i = 0; i < 8; ++i) {
      const double norm = i == 0 ? std::sqrt(0.125) : 0.5;
      const double weight = 32768 * norm * std::cos((2 * r + 1) * i * std::numbers::pi / 16);
      EXPECT_EQ(kTransformWeights[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)], std::lround(weight));
    }
  }
}

TEST(ForwardTransform, IsTheOrthonormalOneButForRounding) {
  Random random(1);
  double worst = 0;
  for (int n = 0; n < 2000; ++n) {
    Block residual;
    const int reach = n % 3 == 0 ? 511 : n % 3 == 1 ? 40 : 3;
    for (std::int16_t& r : residual) {
      r = n % 5 == 0 ? static_cast<std::int16_t>(random.below(2) == 0 ? -reach : reach)
                     : static_cast<std::int16_t>(static_cast<int>(random.below(static_cast<std::uint32_t>(2 * reach + 1))) - reach);
    }
    const Block coefficients = transformed(residual);
    const auto expected = exact(residual);
    for (std::size_t k = 0; k < 64; ++k) worst = std::max(worst, std::abs(coefficients[k] - expected[k]));
  }
  EXPECT_LT(worst, 2);  // the error in sixteenths of a sample
}

TEST(ForwardTransform, ExtremesFit) {
  // A coefficient is largest if each residual is extreme and has the sign of the coefficient's basis function there.
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < 8; ++u) {
      for (const int sign : {1, -1}) {
        Block residual;
        for (int y = 0; y < 8; ++y) {
          for (int x = 0; x < 8; ++x) {
            const int basis = kTransformWeights[static_cast<std::size_t>(x)][static_cast<std::size_t>(u)] *
                              kTransformWeights[static_cast<std::size_t>(y)][static_cast<std::size_t>(v)];
            residual[static_cast<std::size_t>(y * 8 + x)] = static_cast<std::int16_t>((basis > 0) == (sign > 0) ? 511 : -510);
          }
        }
        const Block coefficients = transformed(residual);
        const auto expected = exact(residual);
        for (std::size_t k = 0; k < 64; ++k) {
          EXPECT_NEAR(coefficients[k], expected[k], 2.5);
          EXPECT_LE(std::abs(coefficients[k]), 32704);
        }
      }
    }
  }
}

TEST(ForwardTransform, HalfSamples) {
  EXPECT_EQ(half_samples(255, 0, true), 510);
  EXPECT_EQ(half_samples(0, 255, true), -510);
  EXPECT_EQ(half_samples(255, 0, false), 511);
  EXPECT_EQ(half_samples(0, 0, false), 1);
}

}  // namespace
}  // namespace c63::test::forward_transform_test
