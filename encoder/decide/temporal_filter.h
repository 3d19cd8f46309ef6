#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/cost.h"
#include "decide/presets.h"

// Averages frames with their neighbours along the motion of blocks, before coding. Small differences between frames are
// mostly noise, which costs bits in every frame and does not help prediction.

namespace c63 {

/// A block of another frame that matches the block to be filtered.
struct FilterTap {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;
  float weight = 0;  ///< the block that is filtered has weight 1
};

/// Averages one sample with the samples of its taps. A tap's weight is multiplied by (1 - x/4)², or by 0 if x is 4 or
/// more. x is the squared difference of the two samples, divided by 7λ. As in the codec's transforms, each product and
/// each sum is rounded separately, in the written order. So all machines give the same result.
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

/// Averages blocks with similar blocks of other frames. Differences that are so small that quantization would change
/// them anyway count as noise.
class TemporalFilter {
 public:
  /// Makes a filter for frames that are coded with this λ.
  explicit TemporalFilter(Cost lambda);

  /// Returns FilterTap::weight for a luma block that was found `distance` frames away (1..kFilterReach).
  /// `squared_error` is its squared error against the block that is filtered. 0: do not use it.
  [[nodiscard]] C63_HD constexpr float block_weight(int distance, std::uint32_t squared_error) const {
    const float share = 1 - static_cast<float>(squared_error) / kBlockSamples * falloff_;
    const float left = share > 0 ? share : 0;
    return (distance == 1 ? 0.4F : 0.27F) * (left * left);
  }
  /// Returns a factor for a tap's weight. `difference_sum` is the sum of `samples` differences between the tap and the
  /// block. The sum of noise is near 0. If all samples differ in the same direction, as in a fade or after a cut, the
  /// difference is content, and the factor is small.
  [[nodiscard]] C63_HD constexpr float mean_share(int difference_sum, int samples) const {
    const float difference = static_cast<float>(difference_sum) * static_cast<float>(difference_sum);
    const float share = 1 - difference / static_cast<float>(2 * samples) * falloff_;
    const float left = share > 0 ? share : 0;
    return left * left;
  }
  /// The argument `falloff` of AveragedSample::add(). It is 1/d, if d is the smallest squared difference whose weight
  /// is 0.
  [[nodiscard]] C63_HD constexpr float falloff() const { return falloff_; }

  /// Returns the sum of size x size differences: the tap's samples minus those at `samples`.
  [[nodiscard]] static int difference_sum(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, const FilterTap& tap);
  /// Averages size x size samples (size is 8 or 4) with those of up to 2·kFilterReach taps.
  void average(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, std::span<const FilterTap> taps,
               std::uint8_t* averaged, std::ptrdiff_t averaged_pitch) const;

 private:
  float falloff_;
};

}  // namespace c63
