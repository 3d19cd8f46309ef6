#include "io/copy_padded.h"

#include <cstring>

#include "c63/picture.h"

namespace c63 {

void copy_padded(const std::uint8_t* const* planes, const int* pitches, int width, int height,
                 std::span<std::uint8_t> frame, bool luma_only) {
  const auto out = split_planes(frame, even_side(width), even_side(height));
  const int count = luma_only ? 1 : 3;
  for (int plane = 0; plane < count; ++plane) {
    const int shift = plane == 0 ? 0 : 1;
    const int from_width = shift == 0 ? width : (width + 1) / 2;
    const int from_height = shift == 0 ? height : (height + 1) / 2;
    const int to_width = even_side(width) >> shift;
    const int to_height = even_side(height) >> shift;
    std::uint8_t* to = out[plane].data();
    for (int y = 0; y < to_height; ++y, to += to_width) {
      const int from_y = y < from_height ? y : from_height - 1;
      const std::uint8_t* from = planes[plane] + static_cast<std::ptrdiff_t>(from_y) * pitches[plane];
      std::memcpy(to, from, static_cast<std::size_t>(from_width));
      if (to_width > from_width) to[from_width] = from[from_width - 1];
    }
  }
}

}  // namespace c63
