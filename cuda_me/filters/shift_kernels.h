#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "c63/cuda/filters.h"

// What whitening (whitening.cu) uses of the shift of frames (shift.cu).

namespace c63::cuda::kernels {

inline constexpr int kListedFrames = kMaxMemory + 1;  ///< a frame and its history

/// Pictures of one size, as a kernel argument.
struct FrameList {
  int count = 0;
  /// True if every row starts at an address that is a multiple of eight.
  bool aligned = true;
  const std::uint8_t* data[kListedFrames];
  std::ptrdiff_t pitch[kListedFrames];
};

[[nodiscard]] FrameList list_of(std::span<const ConstPlaneView> frames);

/// The type of sums over samples. They are integers, so they are exact.
using Sum = std::int64_t;

using Derived = std::int16_t;

/// The derivatives 2g and 2h of a reference, and its means 5m, in device memory (see ShiftSums). `pitch` is in values,
/// a multiple of 8. On the border, all are zero.
struct DerivedView {
  Derived* g = nullptr;
  Derived* h = nullptr;
  Derived* m = nullptr;
  int width = 0;
  int height = 0;
  int pitch = 0;
};

/// The layout of a reference's three derivative planes (DerivedView) in one block of memory.
class DerivedLayout {
 public:
  DerivedLayout(int width, int height) : width_(width), height_(height), pitch_((width + 7) / 8 * 8) {}

  [[nodiscard]] std::size_t bytes() const { return 3 * plane(); }
  [[nodiscard]] DerivedView at(std::uint8_t* memory) const {
    const auto part = [&](std::size_t k) { return reinterpret_cast<Derived*>(memory + k * plane()); };
    return {part(0), part(1), part(2), width_, height_, pitch_};
  }

 private:
  [[nodiscard]] std::size_t plane() const {
    const std::size_t bytes =
        static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(height_) * sizeof(Derived);
    return (bytes + 255) / 256 * 256;
  }

  int width_;
  int height_;
  int pitch_;
};

/// Fills `derived` and adds 4u, 4v and 4w (see ShiftSums) to texture[0..2], which must be zero before.
void derive(CUstream_st* stream, ConstPlaneView reference, const DerivedView& derived, Sum* texture);

/// Adds 10p and 10q (see ShiftSums) of frame k to sums[2k] and sums[2k + 1].
void shift_all(CUstream_st* stream, const DerivedView& derived, const FrameList& frames, Sum* sums);

}  // namespace c63::cuda::kernels
