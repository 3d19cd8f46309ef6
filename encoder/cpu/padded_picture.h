#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "c63/picture.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"

namespace c63::cpu {

/// A picture in the codec's padded planes, with kPlaneGuard readable bytes around each plane.
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

  /// Memory for one input frame: planes without gaps. It overlaps the planes' memory; lay_out() turns it into planes.
  [[nodiscard]] std::span<std::uint8_t> input() { return std::span(samples_).subspan(kPlaneGuard, geometry_.frame_bytes()); }
  /// Moves the frame in input() to the planes. As the codec does, it fills each plane linearly from its start. The rest
  /// of the plane becomes zero.
  void lay_out();
  /// Copies one output frame: the coded samples at the start of each plane, without gaps.
  void copy_to(std::span<std::uint8_t> frame) const;
  /// The samples of plane `index` that are coded: those of the frame, without the zeros after them.
  [[nodiscard]] std::span<const std::uint8_t> coded(int index) const;

 private:
  Geometry geometry_;
  std::array<PlaneGeometry, kPlanes> planes_{};
  std::array<std::size_t, kPlanes> offsets_{};
  std::vector<std::uint8_t> samples_;
};

}  // namespace c63::cpu
