#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decide/cost.h"
#include "decide/lookahead_decisions.h"

// Frames are averaged with those around them, along the motion of their blocks, before they are coded: what differs from
// frame to frame is mostly noise, which costs bits in every frame anew and predicts nothing.

namespace c63 {

/// Fraction bits of weights.
inline constexpr int kFilterWeightBits = 8;

/// Where a block lies in another frame, and how much that counts.
struct FilterTap {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;
  int weight = 0;
};

/// Averages blocks with what is like them: where they differ by less than quantization will change them anyway.
class TemporalFilter {
 public:
  /// For frames that are coded with this λ.
  explicit TemporalFilter(Cost lambda);

  /// The weight of a luma block `distance` frames away, up to kFilterReach, that has this squared error. 0: of no use.
  [[nodiscard]] int block_weight(int distance, std::uint32_t squared_error) const;

  /// Averages size x size samples with those of the taps, at most 2·kFilterReach; each sample of a tap counts as far as it is
  /// alike.
  void average(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, std::span<const FilterTap> taps,
               std::uint8_t* averaged, std::ptrdiff_t averaged_pitch) const;

 private:
  /// (1 - x/4)², where x is a squared difference in variances; 0 from x = 4 on.
  [[nodiscard]] int likeness(std::uint32_t squared_difference) const;

  std::int64_t variance_;  ///< of differences that count as alike, in the unit of Cost
  std::array<std::int32_t, 256> sample_likeness_{};  ///< by the difference
};

}  // namespace c63
