#include "codec/quantization.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "codec/dct.h"
#include "support/generators.h"

namespace c63::test {
namespace {

TEST(Tables, AreCutToIntegersAndNeverZeroInTheRangeOfQp) {
  for (int qp = kMinQp; qp <= kMaxQp; ++qp) {
    const QuantizationTables tables = make_quantization_tables(qp);
    for (int plane = 0; plane < kPlanes; ++plane) {
      const QuantizationTable& base = plane == 0 ? kLumaBaseTable : kChromaBaseTable;
      for (std::size_t k = 0; k < 64; ++k) {
        const volatile double scale = qp / 10.0;  // volatile: the division happens at run time, as in the course codec
        const double step = std::trunc(base[k] / scale);
        ASSERT_EQ(tables[plane][k], step) << qp << " " << k;
        ASSERT_GE(step, 1);
        ASSERT_LE(step, 255);
      }
    }
  }
  // The exact quotient 55 / 1.1 is 50. But the double nearest to 1.1 is a little larger than 1.1. So the quotient is a
  // little below 50, and is truncated to 49.
  EXPECT_EQ(kLumaBaseTable[33], 55);
  EXPECT_EQ(make_quantization_tables(11)[0][33], 49);
  EXPECT_EQ(kLumaBaseTable[53], 62);
  EXPECT_EQ(kLumaBaseTable[63], 99);
  EXPECT_EQ(make_quantization_tables(25)[0][0], 6);
  EXPECT_EQ(make_quantization_tables(25)[1][63], 39);
}

/// Quantizes with the operations of the course codec, which uses double. quantize() must give the same without double.
int quantize_in_double(float coefficient, int step) {
  return static_cast<int>(std::round((static_cast<double>(coefficient) / 4.0) / static_cast<double>(step)));
}

TEST(Quantize, EqualsTheDoubleFormAroundEveryTie) {
  std::int64_t cases = 0;
  for (int step = 1; step <= 255; ++step) {
    // A coefficient of a block is at most about 8·8·255/2 = 8160. The test goes up to 16,400, so it covers all levels
    // that can occur.
    const int most = static_cast<int>(16400.0 / (4 * step)) + 1;
    for (int level = 0; level <= most; ++level) {
      const auto tie = static_cast<float>((level + 0.5) * 4.0 * step);
      for (int ulps = -6; ulps <= 6; ++ulps) {
        const auto bits = std::bit_cast<std::uint32_t>(tie) + static_cast<std::uint32_t>(ulps);
        const auto value = std::bit_cast<float>(bits);
        ASSERT_EQ(quantize(value, step), quantize_in_double(value, step)) << value << " / " << step;
        ASSERT_EQ(quantize(-value, step), quantize_in_double(-value, step)) << -value << " / " << step;
        cases += 2;
      }
    }
  }
  EXPECT_GT(cases, 500'000);
}

TEST(Dequantize, EqualsTheRoundedQuotientForEveryLevelAndStep) {
  for (int level = std::numeric_limits<std::int16_t>::min(); level <= std::numeric_limits<std::int16_t>::max();
       ++level) {
    for (int step = 1; step <= 255; ++step) {
      // The quotient has no rounding error in double, and std::round() rounds halves away from zero.
      if (dequantize(level, step) != static_cast<int>(std::round(level * step / 4.0))) FAIL() << level << " * " << step;
    }
  }
}

TEST(Clamp, NeverActsIfTheCourseCodecIsExact) {
  // `bound` is the largest magnitude of a coefficient: 255 (the largest residual) times one factor for each direction.
  // The factor is the sum of the magnitudes of eight cosines. For index 0 it is multiplied by kDctScale.
  for (int qp = kMinQp; qp <= kMaxExactQp; ++qp) {
    const QuantizationTables tables = make_quantization_tables(qp);
    for (int plane = 0; plane < kPlanes; ++plane) {
      for (int k = 0; k < 64; ++k) {
        const int v = kZigZag[k] / 8;
        const int u = kZigZag[k] % 8;
        double bound = 255;
        for (const int i : {u, v}) {
          double sum = 0;
          for (int r = 0; r < 8; ++r) sum += std::fabs(kDctCosines[r][i]);
          bound *= i == 0 ? sum * kDctScale : sum;
        }
        const int level = static_cast<int>(std::ceil(bound / 4 / tables[plane][k] + 0.5));
        ASSERT_LE(level, k == 0 ? kMaxDcMagnitude : max_ac_magnitude(plane)) << qp << " " << plane << " " << k;
      }
    }
  }
}

TEST(Clamp, Limits) {
  EXPECT_EQ(clamp_coefficient(600, 5, 0), 511);
  EXPECT_EQ(clamp_coefficient(-600, 5, 0), -511);
  EXPECT_EQ(clamp_coefficient(600, 5, 1), 600);
  EXPECT_EQ(clamp_coefficient(-1500, 5, 2), -1023);
  EXPECT_EQ(clamp_coefficient(1500, 0, 0), 1500);
  EXPECT_EQ(clamp_coefficient(3000, 0, 0), 2047);
}

}  // namespace
}  // namespace c63::test
