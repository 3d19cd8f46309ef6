#include "decide/temporal_filter.h"

#include <algorithm>
#include <cstdlib>

#include "codec/geometry.h"

namespace c63 {
namespace {

/// The variance that counts as alike, in tenths of λ: that of 0.8 steps.
constexpr std::int64_t kVarianceOfLambda = 32;

/// The most that the next frame counts, and the one behind it: 0.4 and 0.27.
constexpr std::array<int, kFilterReach> kStrengths = {102, 68};

}  // namespace

TemporalFilter::TemporalFilter(Cost lambda)
    : variance_(std::max<std::int64_t>(1 << kCostFractionBits, kVarianceOfLambda * lambda / 10)) {
  for (std::uint32_t difference = 0; difference < sample_likeness_.size(); ++difference) {
    sample_likeness_[difference] = likeness(difference * difference);
  }
}

int TemporalFilter::likeness(std::uint32_t squared_difference) const {
  const std::int64_t ratio = (std::int64_t{squared_difference} << (kCostFractionBits + 8)) / variance_;
  const auto left = static_cast<int>(std::max<std::int64_t>(0, 1024 - ratio));
  return left * left >> 12;
}

int TemporalFilter::block_weight(int distance, std::uint32_t squared_error) const {
  const int strength = kStrengths[static_cast<std::size_t>(distance - 1)];
  return strength * likeness(squared_error / static_cast<std::uint32_t>(kBlockSamples)) >> kFilterWeightBits;
}

void TemporalFilter::average(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, std::span<const FilterTap> taps,
                             std::uint8_t* averaged, std::ptrdiff_t averaged_pitch) const {
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const int own = samples[y * pitch + x];
      int weight = 1 << kFilterWeightBits;
      int sum = own << kFilterWeightBits;
      for (const FilterTap& tap : taps) {
        const int other = tap.samples[y * tap.pitch + x];
        const auto difference = static_cast<std::size_t>(std::abs(other - own));
        const int share = tap.weight * sample_likeness_[difference] >> kFilterWeightBits;
        weight += share;
        sum += share * other;
      }
      averaged[y * averaged_pitch + x] = static_cast<std::uint8_t>((sum + weight / 2) / weight);
    }
  }
}

}  // namespace c63
