#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace c63::cuda {

/// A plane that bulk copies read.
struct BoxedPlane {
  const std::uint8_t* samples;
  std::ptrdiff_t pitch;  ///< bytes
  int width;
  int height;
};

/// Makes tensor maps of planes, from which bulk copies read boxes of samples (bulk_copy.cuh).
class PlaneBoxes {
 public:
  /// `wanted` is true if the device can run the kernel that reads the boxes (can_run()).
  explicit PlaneBoxes(bool wanted);

  [[nodiscard]] bool available() const { return encode_ != nullptr; }

  /// Writes the tensor map of a plane for boxes of `width` by `height` samples. Returns false if bulk copies are not
  /// available, if base or pitch is not a multiple of 16, or if the driver refuses the sizes.
  [[nodiscard]] bool describe(CUtensorMap& map, const BoxedPlane& plane, unsigned width, unsigned height) const;

 private:
  decltype(&cuTensorMapEncodeTiled) encode_ = nullptr;  ///< the driver's function, found at run time
};

}  // namespace c63::cuda
