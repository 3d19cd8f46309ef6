#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace c63 {

/// Returns the position of the first marker in `bytes` that is not before `from`: a 0xFF that is not followed by 0x00.
/// A 0xFF at the very end counts as a marker. Returns the number of bytes if there is no marker.
[[nodiscard]] std::size_t next_marker(std::span<const std::uint8_t> bytes, std::size_t from);

/// Returns the positions of the first `most` markers in [from, end), in order. A 0xFF at the very end of `bytes` does
/// not count.
[[nodiscard]] std::vector<std::size_t> find_markers(std::span<const std::uint8_t> bytes, std::size_t from, std::size_t end,
                                                    std::size_t most);

/// The markers of a buffer. The buffer is searched for all markers before its frames are parsed.
struct KnownMarkers {
  std::span<const std::size_t> at;  ///< all positions that find_markers() found in a buffer
  std::size_t begin = 0;            ///< where in that buffer the parsed bytes begin

  /// Returns the same as next_marker(bytes, from), without a search. `bytes` are the parsed bytes, which begin at index
  /// `begin` of the searched buffer.
  [[nodiscard]] std::size_t next(std::span<const std::uint8_t> bytes, std::size_t from) const {
    const auto found = std::ranges::lower_bound(at, begin + from);
    if (found != at.end() && *found - begin < bytes.size()) return *found - begin;
    return from < bytes.size() && bytes.back() == 0xFF ? bytes.size() - 1 : bytes.size();
  }
};

}  // namespace c63
