#include "cpu/padded_picture.h"

#include <algorithm>
#include <cstring>

namespace c63::cpu {

PaddedPicture::PaddedPicture(const Geometry& geometry) : geometry_(geometry) {
  std::size_t offset = kPlaneGuard;
  for (int p = 0; p < kPlanes; ++p) {
    planes_[p] = geometry.plane(p);
    offsets_[p] = offset;
    offset += planes_[p].samples();
  }
  samples_.resize(offset + kPlaneGuard);
}

void PaddedPicture::lay_out() {
  const auto planes = split_planes(input(), geometry_.width(), geometry_.height());
  for (int p = kPlanes - 1; p >= 0; --p) {  // data move to higher addresses, so the last plane is moved first
    std::uint8_t* const to = samples_.data() + offsets_[p];
    if (to != planes[p].data()) std::memmove(to, planes[p].data(), planes[p].size());
    std::fill(to + planes[p].size(), to + planes_[p].samples(), std::uint8_t{0});
  }
}

void PaddedPicture::copy_to(std::span<std::uint8_t> frame) const {
  const auto planes = split_planes(frame, geometry_.width(), geometry_.height());
  for (int p = 0; p < kPlanes; ++p) std::ranges::copy(coded(p), planes[p].data());
}

std::span<const std::uint8_t> PaddedPicture::coded(int index) const {
  return {samples_.data() + offsets_[index], planes_[index].coded_samples};
}

}  // namespace c63::cpu
