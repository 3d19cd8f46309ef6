#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {

/// The layout of a reference's three derivative planes (DerivedView) in one block of memory.
template <typename Sample>
class DerivedLayout {
 public:
  DerivedLayout(int width, int height) : width_(width), height_(height), pitch_((width + 7) / 8 * 8) {}

  [[nodiscard]] std::size_t bytes() const { return 3 * plane(); }
  [[nodiscard]] DerivedView<Sample> at(std::uint8_t* memory) const {
    const auto part = [&](std::size_t k) { return reinterpret_cast<Derived<Sample>*>(memory + k * plane()); };
    return {part(0), part(1), part(2), width_, height_, pitch_};
  }

 private:
  [[nodiscard]] std::size_t plane() const {
    const std::size_t bytes =
        static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(height_) * sizeof(Derived<Sample>);
    return (bytes + 255) / 256 * 256;
  }

  int width_;
  int height_;
  int pitch_;
};

}  // namespace c63::cuda::kernels
