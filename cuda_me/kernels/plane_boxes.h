#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace c63::cuda {

/// A plane as the hardware's bulk copies are told of it.
struct BoxedPlane {
  const std::uint8_t* samples;
  std::ptrdiff_t pitch;  ///< bytes
  int width;
  int height;
};

/// Describes planes of which boxes are copied (bulk_copy.cuh).
class PlaneBoxes {
 public:
  /// `wanted` is whether the architecture has such copies.
  explicit PlaneBoxes(bool wanted);

  [[nodiscard]] bool available() const { return encode_ != nullptr; }

  /// For boxes of `width` by `height` samples. False without such copies, or for a plane that they cannot take: base
  /// and pitch are to be multiples of 16.
  [[nodiscard]] bool describe(CUtensorMap& map, const BoxedPlane& plane, unsigned width, unsigned height) const;

 private:
  decltype(&cuTensorMapEncodeTiled) encode_ = nullptr;  ///< the driver's, which is never linked
};

}  // namespace c63::cuda
