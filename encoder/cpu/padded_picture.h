#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "c63/picture.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"

namespace c63::cpu {

/// A picture in the codec's padded planes, with the margin that kernels may read.
class PaddedPicture {
 public:
  PaddedPicture() = default;
  explicit PaddedPicture(const Geometry& geometry);

  [[nodiscard]] PlaneView plane(int index) {
    const PlaneGeometry& g = planes_[index];
    return {samples_.data() + offsets_[index], g.width, g.height, g.width};
  }
  [[nodiscard]] ConstPlaneView plane(int index) const {
    const PlaneGeometry& g = planes_[index];
    return {samples_.data() + offsets_[index], g.width, g.height, g.width};
  }

  /// Memory for one input frame, planes without gaps, within the memory of the planes. lay_out() turns it into planes.
  [[nodiscard]] std::span<std::uint8_t> input() { return std::span(samples_).subspan(kPlaneGuard, geometry_.frame_bytes()); }
  /// Moves the content of input() to its planes. It fills them linearly, as the codec lays frames out; what lies after
  /// it in a plane becomes zero.
  void lay_out();
  /// One frame of output: the first coded samples of each plane.
  void copy_to(std::span<std::uint8_t> frame) const;
  /// The part of plane `index` that belongs to the picture.
  [[nodiscard]] std::span<const std::uint8_t> coded(int index) const;

 private:
  Geometry geometry_;
  std::array<PlaneGeometry, kPlanes> planes_{};
  std::array<std::size_t, kPlanes> offsets_{};
  std::vector<std::uint8_t> samples_;
};

}  // namespace c63::cpu
