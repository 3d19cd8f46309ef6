#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace c63 {

/// Returns the position of the first marker in `bytes` that is not before `from`: a 0xFF that is not followed by 0x00.
/// A 0xFF at the very end counts as a marker. Returns the number of bytes if there is no marker.
[[nodiscard]] std::size_t next_marker(std::span<const std::uint8_t> bytes, std::size_t from);

}  // namespace c63
