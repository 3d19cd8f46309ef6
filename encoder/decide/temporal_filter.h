#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/cost.h"
#include "decide/lookahead_decisions.h"

// Averages frames with their neighbours along the motion of their blocks before coding. Differences between frames are mostly
// noise, which costs bits in every frame and predicts nothing.

namespace c63 {

/// The matching block in another frame, and its weight.
struct FilterTap {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;
  float weight = 0;  ///< the weight of the block itself is 1
};

/// A sample averaged with those of its taps. The weight of each falls with the difference: (1 - x/4)², where x is the squared
/// difference in variances of 7λ, and 0 from x = 4 on. As in the codec's transforms, each product and sum is rounded by itself,
/// in the written order, so all machines give the same result.
class AveragedSample {
 public:
  C63_HD explicit constexpr AveragedSample(int own) : own_(static_cast<float>(own)), sum_(own_) {}
  C63_HD constexpr void add(int other, float tap_weight, float falloff) {
    const auto value = static_cast<float>(other);
    const float difference = value - own_;
    float left = 1 - difference * difference * falloff;
    left = left > 0 ? left : 0;
    const float share = tap_weight * (left * left);
    weight_ += share;
    sum_ += share * value;
  }
  [[nodiscard]] C63_HD constexpr int rounded() const { return static_cast<int>(sum_ / weight_ + 0.5F); }

 private:
  float own_;
  float weight_ = 1;
  float sum_;
};

/// Averages blocks with similar blocks. Differences up to what quantization changes anyway count as noise.
class TemporalFilter {
 public:
  /// Makes a filter for frames that are coded with this λ.
  explicit TemporalFilter(Cost lambda);

  /// The weight of a luma block that is `distance` frames away, up to kFilterReach, with this squared error. 0: not used.
  [[nodiscard]] C63_HD constexpr float block_weight(int distance, std::uint32_t squared_error) const {
    const float share = 1 - static_cast<float>(squared_error) / kBlockSamples * falloff_;
    const float left = share > 0 ? share : 0;
    return (distance == 1 ? 0.4F : 0.27F) * (left * left);
  }
  /// The share that is left of a tap's weight, by the sum of `samples` differences. Noise is zero on average. If all samples differ
  /// in the same direction, such as in a fade or after a cut, the difference is content.
  [[nodiscard]] C63_HD constexpr float mean_share(int difference_sum, int samples) const {
    const float difference = static_cast<float>(difference_sum) * static_cast<float>(difference_sum);
    const float share = 1 - difference / static_cast<float>(2 * samples) * falloff_;
    const float left = share > 0 ? share : 0;
    return left * left;
  }
  /// The falloff for AveragedSample: the inverse of the least squared difference with weight 0.
  [[nodiscard]] C63_HD constexpr float falloff() const { return falloff_; }

  /// The sum of the differences of size x size samples from those of a tap.
  [[nodiscard]] static int difference_sum(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, const FilterTap& tap);
  /// Averages size x size samples (8 or 4 per side) with those of at most 2·kFilterReach taps, by AveragedSample.
  void average(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, std::span<const FilterTap> taps,
               std::uint8_t* averaged, std::ptrdiff_t averaged_pitch) const;

 private:
  float falloff_;
};

}  // namespace c63
