#pragma once

#include <cstdint>
#include <span>

namespace c63 {

/// Rounds up to an even number.
[[nodiscard]] constexpr int even_side(int side) { return side + side % 2; }

/// Copies a picture of `width` x `height` to the linear layout of the next even size. Odd sides are padded by repeating
/// the last column and row. The picture's chroma planes have half its sides, rounded up. With `luma_only`, chroma is not
/// copied.
void copy_padded(const std::uint8_t* const* planes, const int* pitches, int width, int height,
                 std::span<std::uint8_t> frame, bool luma_only = false);

}  // namespace c63
