#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/cost.h"
#include "decide/lookahead_decisions.h"

// Frames are averaged with those around them, along the motion of their blocks, before they are coded: what differs from
// frame to frame is mostly noise, which costs bits in every frame anew and predicts nothing.

namespace c63 {

/// Where a block lies in another frame, and how much that counts.
struct FilterTap {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;
  float weight = 0;  ///< that of the block itself is 1
};

/// A sample that is averaged with those of its taps, each of which counts as far as it is alike: (1 - x/4)², where x is the
/// squared difference in variances of 7λ, and nothing from x = 4 on. As in the codec's transforms, each product and sum is
/// rounded by itself, in the order that is written: all machines have the same.
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

/// Averages blocks with what is like them: where they differ by less than quantization will change them anyway.
class TemporalFilter {
 public:
  /// For frames that are coded with this λ.
  explicit TemporalFilter(Cost lambda);

  /// The weight of a luma block `distance` frames away, up to kFilterReach, that has this squared error. 0: of no use.
  [[nodiscard]] C63_HD constexpr float block_weight(int distance, std::uint32_t squared_error) const {
    const float share = 1 - static_cast<float>(squared_error) / kBlockSamples * falloff_;
    const float left = share > 0 ? share : 0;
    return (distance == 1 ? 0.4F : 0.27F) * (left * left);
  }
  /// Of AveragedSample: the inverse of the least squared difference that counts nothing.
  [[nodiscard]] C63_HD constexpr float falloff() const { return falloff_; }

  /// AveragedSample of size x size samples, 8 or 4 a side, and those of the taps, at most 2·kFilterReach.
  void average(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, std::span<const FilterTap> taps,
               std::uint8_t* averaged, std::ptrdiff_t averaged_pitch) const;

 private:
  float falloff_;
};

}  // namespace c63
