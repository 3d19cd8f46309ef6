// Tests the temporal filter, which averages each frame with its neighbours along the motion. It averages samples that
// are similar, and does not change others.

#include "decide/temporal_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "decide/source_motion.h"
#include "support/generators.h"

namespace c63::test::temporal_filter_test {
namespace {

constexpr Cost kLambda = 50 << kCostFractionBits;  // for a step of 15.8; differences up to 12.6 count as similar

std::uint32_t sad8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch) {
  std::uint32_t sum = 0;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) sum += static_cast<std::uint32_t>(std::abs(a[y * a_pitch + x] - b[y * b_pitch + x]));
  }
  return sum;
}

TEST(TemporalFilter, BlocksCountByDistanceAndLikeness) {
  const TemporalFilter filter(kLambda);
  EXPECT_EQ(filter.block_weight(1, 0), 0.4F);
  EXPECT_EQ(filter.block_weight(2, 0), 0.27F);
  float last = 0.4F;
  for (std::uint32_t error = 0; error <= 64 * 65025; error += 640) {
    const float weight = filter.block_weight(1, error);
    EXPECT_LE(weight, last) << error;
    // The expected weight is 0.4·(1 - x/4)², but 0 if x exceeds 4. x is the block's mean squared error, divided by 7λ
    // (the variance that counts as noise).
    const double left = std::max(0.0, 1 - error / 64.0 / (7.0 * 50) / 4);
    EXPECT_NEAR(weight, 0.4 * left * left, 1e-5) << error;
    last = weight;
  }
  EXPECT_EQ(last, 0);
}

TEST(TemporalFilter, BlocksWithAnotherMeanCountLess) {
  const TemporalFilter filter(kLambda);
  for (const int samples : {16, 64}) {
    EXPECT_EQ(filter.mean_share(0, samples), 1);
    float last = 1;
    for (int sum = 1; sum <= 255 * samples; ++sum) {
      const float share = filter.mean_share(sum, samples);
      EXPECT_EQ(share, filter.mean_share(-sum, samples));
      EXPECT_LE(share, last) << sum;
      // The expected factor is (1 - x/8)², but 0 if x exceeds 8. x is the square of the summed differences, divided by
      // the variance of such a sum. The variance of one difference is 7λ.
      const double left = std::max(0.0, 1 - static_cast<double>(sum) * sum / samples / (7.0 * 50) / 8);
      EXPECT_NEAR(share, left * left, 1e-5) << sum;
      last = share;
    }
    EXPECT_EQ(last, 0);
  }
  Random random(2);
  Bytes own(12 * 8);
  Bytes other(9 * 8);
  for (Bytes* bytes : {&own, &other}) std::ranges::generate(*bytes, [&] { return static_cast<std::uint8_t>(random.next()); });
  for (const int size : {4, 8}) {
    int sum = 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) sum += other[static_cast<std::size_t>(9 * y + x)] - own[static_cast<std::size_t>(12 * y + x)];
    }
    EXPECT_EQ(TemporalFilter::difference_sum(own.data(), 12, size, {other.data(), 9, 1}), sum);
  }
}

/// Returns the filtered value of one sample, computed from the definition. `own` is the sample, `others` are the
/// samples of other frames with their weights.
int average_of(int own, const std::vector<std::pair<int, float>>& others, Cost lambda) {
  const float falloff = 1 / (4 * std::max(1.0F, 7.0F * static_cast<float>(lambda) / 256));
  float weights = 1;
  auto sums = static_cast<float>(own);
  for (const auto& [other, weight] : others) {
    const auto difference = static_cast<float>(other - own);
    const float left = std::max(0.0F, 1 - difference * difference * falloff);
    const float share = weight * (left * left);
    weights += share;
    sums += share * static_cast<float>(other);
  }
  return static_cast<int>(sums / weights + 0.5F);
}

TEST(TemporalFilter, IsItsDefinitionSampleBySample) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const std::array<Cost, 6> lambdas = {1, 80, 2000, kLambda, 60000, kMaxLambda};
    const Cost lambda = lambdas[random.below(6)];
    const TemporalFilter filter(lambda);
    const int size = round % 2 == 0 ? 8 : 4;
    const bool extreme = round % 3 == 0;
    const auto sample = [&] { return static_cast<std::uint8_t>(extreme ? 255 * random.below(2) : 100 + random.below(1 + random.below(150))); };
    Bytes own(12 * 12);
    std::ranges::generate(own, sample);
    std::vector<Bytes> others(random.below(5), Bytes(11 * 12));
    std::vector<FilterTap> taps;
    for (Bytes& other : others) {
      std::ranges::generate(other, sample);
      taps.push_back({other.data(), 11, static_cast<float>(random.below(410)) / 1000});
    }
    Bytes out(13 * 8, 0xA5);
    filter.average(own.data(), 12, size, taps, out.data(), 13);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 13; ++x) {
        const auto at = static_cast<std::size_t>(13 * y + x);
        if (x >= size || y >= size) {
          ASSERT_EQ(out[at], 0xA5);
          continue;
        }
        std::vector<std::pair<int, float>> there;
        for (const FilterTap& tap : taps) there.emplace_back(tap.samples[y * 11 + x], tap.weight);
        const int own_sample = own[static_cast<std::size_t>(12 * y + x)];
        ASSERT_EQ(out[at], average_of(own_sample, there, lambda)) << lambda;
        AveragedSample averaged(own_sample);
        for (const auto& [other, weight] : there) averaged.add(other, weight, filter.falloff());
        ASSERT_EQ(out[at], averaged.rounded()) << lambda;
      }
    }
  }
}

/// A smooth texture that looks different everywhere, so a search can find only the right place.
std::uint32_t texture(std::uint32_t x, std::uint32_t y) {
  return static_cast<std::uint32_t>(128 + 60 * std::sin(0.11 * x + 0.03 * y) + 50 * std::sin(0.1 * y - 0.02 * x));
}

TEST(SourceMotion, IsThatOfAMovingTexture) {
  const PlaneGeometry geometry = Geometry(96, 64).plane(0);
  const auto luma = [&](std::uint32_t dx, std::uint32_t dy) {
    Bytes bytes;
    for (std::uint32_t y = 0; y < 64; ++y) {
      for (std::uint32_t x = 0; x < 96; ++x) bytes.push_back(static_cast<std::uint8_t>(texture(x + dx, y + dy)));
    }
    return bytes;
  };
  const Bytes reference = luma(10, 10);
  const Bytes current = luma(13, 8);
  const SourceMotion motion =
      find_source_motion(geometry, {current.data(), 96, 64, 96}, {reference.data(), 96, 64, 96}, {}, sad8);
  ASSERT_EQ(motion.size(), 96U);
  int found = 0;  // blocks with the right motion, of those whose content is in the reference
  for (int row = 1; row < 7; ++row) {
    for (int column = 0; column < 11; ++column) {
      const SourceBlock& block = motion[static_cast<std::size_t>(12 * row + column)];
      if (block.vector == MotionVector{3, -2} && block.squared_error == 0) ++found;
    }
  }
  EXPECT_GE(found, 60) << "of 66";
}

TEST(SourceMotion, StaysInsideThePlaneAndTellsTheErrorThere) {
  for (const auto& [width, height] : {std::pair{16, 16}, {48, 16}, {16, 64}, {80, 48}}) {
    const PlaneGeometry geometry = Geometry(width, height).plane(0);
    const Bytes a = random_video(width, height, 1, 1);
    const Bytes b = random_video(width, height, 1, 2);
    std::vector<MotionVector> hints;
    Random random(4);
    for (int i = 0; i < geometry.blocks(); ++i) {
      hints.push_back({static_cast<std::int8_t>(random.below(255) - 127), static_cast<std::int8_t>(random.below(255) - 127)});
    }
    const SourceMotion motion =
        find_source_motion(geometry, {a.data(), width, height, width}, {b.data(), width, height, width}, hints, sad8);
    for (int row = 0; row < geometry.rows; ++row) {
      for (int column = 0; column < geometry.columns; ++column) {
        const SourceBlock& block = motion[static_cast<std::size_t>(row * geometry.columns + column)];
        const int x = 8 * column + block.vector.x;
        const int y = 8 * row + block.vector.y;
        ASSERT_TRUE(x >= 0 && y >= 0 && x <= width - 8 && y <= height - 8);
        std::uint32_t error = 0;
        for (int i = 0; i < 64; ++i) {
          const int own = a[static_cast<std::size_t>((8 * row + i / 8) * width + 8 * column + i % 8)];
          const int other = b[static_cast<std::size_t>((y + i / 8) * width + x + i % 8)];
          error += static_cast<std::uint32_t>((own - other) * (own - other));
        }
        EXPECT_EQ(block.squared_error, error);
      }
    }
  }
}

}  // namespace
}  // namespace c63::test::temporal_filter_test
