#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace c63 {

/// The position of the first marker at or after `from`: a 0xFF that no 0x00 follows. A 0xFF at the end counts too. If there
/// is no marker, the position is the size.
[[nodiscard]] std::size_t next_marker(std::span<const std::uint8_t> bytes, std::size_t from);

/// The positions of the first `most` markers in [from, end), in order. A 0xFF at the very end is not included.
[[nodiscard]] std::vector<std::size_t> find_markers(std::span<const std::uint8_t> bytes, std::size_t from, std::size_t end,
                                                    std::size_t most);

/// The markers of bytes that were searched before they are parsed.
struct KnownMarkers {
  std::span<const std::size_t> at;  ///< all positions that find_markers() found in a buffer
  std::size_t begin = 0;            ///< start of the parsed bytes in that buffer

  /// What next_marker() would return for those bytes.
  [[nodiscard]] std::size_t next(std::span<const std::uint8_t> bytes, std::size_t from) const {
    const auto found = std::ranges::lower_bound(at, begin + from);
    if (found != at.end() && *found - begin < bytes.size()) return *found - begin;
    return from < bytes.size() && bytes.back() == 0xFF ? bytes.size() - 1 : bytes.size();
  }
};

}  // namespace c63
