#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitstream/frame_syntax.h"

namespace c63 {

/// The vectors by which the blocks of a frame are predicted. A block that is coded without a vector has none, and is
/// predicted from zero. There is one exception: the frame has the same reference as the previous frame. Then such a
/// block inherits from the same block of the previous frame: its vector, or that it has none. FrameSyntax has only the
/// coded vectors.
class PredictionVectors {
 public:
  /// The vectors of one plane, one entry per block in raster order.
  struct Plane {
    std::vector<MotionVector> vectors;     ///< zero for blocks without a vector
    std::vector<std::uint8_t> has_vector;  ///< 0 or 1
  };

  PredictionVectors() = default;
  /// Makes an object for pictures of this size, in which no block has a vector.
  explicit PredictionVectors(const Geometry& geometry) {
    for (int p = 0; p < kPlanes; ++p) {
      const auto blocks = static_cast<std::size_t>(geometry.plane(p).blocks());
      planes_[p] = {std::vector<MotionVector>(blocks), std::vector<std::uint8_t>(blocks)};
    }
  }

  [[nodiscard]] const Plane& plane(int p) const { return planes_[p]; }

  /// Sets the vectors of MCU row `mcu_row`. `before` has the previous frame's vectors if this frame has the same
  /// reference, otherwise it is null. Blocks of key frames get no vectors.
  void fill_row(const FrameSyntax& coded, const PredictionVectors* before, int mcu_row) {
    for (int p = 0; p < kPlanes; ++p) {
      const auto blocks = static_cast<std::size_t>(coded.planes[p].geometry.columns) * (p == 0 ? 2 : 1);
      fill(coded, before, p, static_cast<std::size_t>(mcu_row) * blocks, blocks);
    }
  }
  /// Sets the vectors of all rows. `before` may be this object.
  void fill(const FrameSyntax& coded, const PredictionVectors* before) {
    for (int p = 0; p < kPlanes; ++p) fill(coded, before, p, 0, planes_[p].vectors.size());
  }

 private:
  void fill(const FrameSyntax& coded, const PredictionVectors* before, int p, std::size_t first, std::size_t count) {
    const PlaneSyntax& from = coded.planes[p];
    Plane& to = planes_[p];
    if (coded.key) {
      std::fill_n(to.vectors.begin() + static_cast<std::ptrdiff_t>(first), count, MotionVector{});
      std::fill_n(to.has_vector.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{0});
      return;
    }
    if (before == nullptr) {
      std::copy_n(from.vectors.begin() + static_cast<std::ptrdiff_t>(first), count, to.vectors.begin() + static_cast<std::ptrdiff_t>(first));
      std::copy_n(from.uses_vector.begin() + static_cast<std::ptrdiff_t>(first), count,
                  to.has_vector.begin() + static_cast<std::ptrdiff_t>(first));
      return;
    }
    for (std::size_t block = first; block < first + count; ++block) {
      const bool is_coded = from.uses_vector[block] != 0;
      to.vectors[block] = is_coded ? from.vectors[block] : before->planes_[p].vectors[block];
      to.has_vector[block] = is_coded ? std::uint8_t{1} : before->planes_[p].has_vector[block];
    }
  }

  std::array<Plane, kPlanes> planes_;
};

}  // namespace c63
