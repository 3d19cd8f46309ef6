#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bitstream/frame_syntax.h"

namespace c63 {

/// The vectors of a frame, for a following frame without SOF: its blocks without a vector are predicted as they were in
/// this frame, from the same reference.
class InheritedVectors {
 public:
  InheritedVectors() = default;
  /// Makes room for a picture's vectors, so that remember() allocates nothing.
  explicit InheritedVectors(const Geometry& geometry) {
    for (int p = 0; p < kPlanes; ++p) {
      const auto blocks = static_cast<std::size_t>(geometry.plane(p).blocks());
      vectors_[p].resize(blocks);
      uses_vector_[p].resize(blocks);
    }
  }

  /// Keeps the vectors that the blocks of `before` were predicted with, including inherited ones.
  void remember(const FrameSyntax& before) {
    for (int p = 0; p < kPlanes; ++p) {
      vectors_[p] = before.planes[p].vectors;
      uses_vector_[p] = before.planes[p].uses_vector;
    }
  }

  /// Gives the blocks of `syntax` without a vector the vector that they inherit, if any. After that, coded and inherited
  /// vectors look the same.
  void apply_to(FrameSyntax& syntax) const {
    for (int p = 0; p < kPlanes; ++p) {
      for (std::size_t block = 0; block < syntax.planes[p].vectors.size(); ++block) {
        if (syntax.planes[p].uses_vector[block] == 0) apply_to(syntax, p, block);
      }
    }
  }
  /// Does so for the blocks of MCU row `mcu_row`.
  void apply_to_row(FrameSyntax& syntax, int mcu_row) const {
    for (int p = 0; p < kPlanes; ++p) {
      const auto blocks = static_cast<std::size_t>(syntax.planes[p].geometry.columns) * (p == 0 ? 2 : 1);
      for (std::size_t block = static_cast<std::size_t>(mcu_row) * blocks, left = blocks; left > 0; ++block, --left) {
        if (syntax.planes[p].uses_vector[block] == 0) apply_to(syntax, p, block);
      }
    }
  }
  /// Does so for one block.
  void apply_to(FrameSyntax& syntax, int plane, std::size_t block) const {
    syntax.planes[plane].vectors[block] = vectors_[plane][block];
    syntax.planes[plane].uses_vector[block] = uses_vector_[plane][block];
  }

 private:
  std::array<std::vector<MotionVector>, kPlanes> vectors_;
  std::array<std::vector<std::uint8_t>, kPlanes> uses_vector_;
};

}  // namespace c63
