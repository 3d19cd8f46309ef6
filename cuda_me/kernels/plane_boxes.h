#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace c63::cuda {

/// A plane for the hardware's bulk copies.
struct BoxedPlane {
  const std::uint8_t* samples;
  std::ptrdiff_t pitch;  ///< bytes
  int width;
  int height;
};

/// Describes planes for copies of boxes (bulk_copy.cuh).
class PlaneBoxes {
 public:
  /// `wanted` says that the architecture has such copies.
  explicit PlaneBoxes(bool wanted);

  [[nodiscard]] bool available() const { return encode_ != nullptr; }

  /// Describes a plane for boxes of `width` by `height` samples. Returns false without such copies, or if base or pitch is not
  /// a multiple of 16.
  [[nodiscard]] bool describe(CUtensorMap& map, const BoxedPlane& plane, unsigned width, unsigned height) const;

 private:
  decltype(&cuTensorMapEncodeTiled) encode_ = nullptr;  ///< the driver's function, found at run time
};

}  // namespace c63::cuda
