#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace c63::cuda {

/// Whether planes at this address and pitch can be read by the copy engine of sm_90 and later.
[[nodiscard]] bool can_map_plane(const std::uint8_t* plane, std::ptrdiff_t pitch);

/// Whether the driver knows tensor maps at all.
[[nodiscard]] bool have_tensor_maps();

/// Describes a plane of bytes to the copy engine, which then fetches boxes of box_width x box_height from any position,
/// also unaligned and partly outside; what is outside reads as 0. Throws Error (device).
[[nodiscard]] CUtensorMap map_plane(const std::uint8_t* plane, std::ptrdiff_t pitch, int width, int height,
                                    int box_width, int box_height);

}  // namespace c63::cuda
