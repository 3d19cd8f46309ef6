#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

/// Averages blocks with what is like them: where they differ by less than quantization will change them anyway. As in the
/// codec's transforms, each product and sum is rounded by itself, in the order that is written: all machines have the same.
class TemporalFilter {
 public:
  /// For frames that are coded with this λ.
  explicit TemporalFilter(Cost lambda);

  /// The weight of a luma block `distance` frames away, up to kFilterReach, that has this squared error. 0: of no use.
  [[nodiscard]] float block_weight(int distance, std::uint32_t squared_error) const;

  /// Averages size x size samples, 8 or 4 a side, with those of the taps, at most 2·kFilterReach. Each sample of a tap counts
  /// as far as it is alike: (1 - x/4)², where x is the squared difference in variances of 3.2λ, and nothing from x = 4 on.
  void average(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, std::span<const FilterTap> taps,
               std::uint8_t* averaged, std::ptrdiff_t averaged_pitch) const;

 private:
  float falloff_;  ///< the inverse of the least squared difference that counts nothing
};

}  // namespace c63
