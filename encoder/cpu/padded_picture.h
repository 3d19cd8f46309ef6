#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "c63/picture.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"

namespace c63::cpu {

/// A picture in the codec's padded planes, with the guard that kernels may read over.
class PaddedPicture {
 public:
  PaddedPicture() = default;
  explicit PaddedPicture(const Geometry& geometry);

  [[nodiscard]] PlaneView plane(int index);
  [[nodiscard]] ConstPlaneView plane(int index) const;

  /// Fills the planes linearly with one frame of input, as the codec lays it out; what lies behind it stays zero.
  void assign(std::span<const std::uint8_t> frame);
  /// One frame of output: the first coded samples of each plane.
  void copy_to(std::span<std::uint8_t> frame) const;
  /// The part of plane `index` that belongs to the picture.
  [[nodiscard]] std::span<const std::uint8_t> coded(int index) const;

 private:
  Geometry geometry_;
  std::array<std::size_t, kPlanes> offsets_{};
  std::vector<std::uint8_t> samples_;
};

}  // namespace c63::cpu
