#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace c63 {

/// Where from `from` on the first marker is: a 0xFF that no 0x00 follows. A 0xFF that nothing follows counts, too; without
/// either it is the size.
[[nodiscard]] std::size_t next_marker(std::span<const std::uint8_t> bytes, std::size_t from);

/// Where in [from, end) markers are, in order and `most` of them at most. A 0xFF that nothing follows is left out.
[[nodiscard]] std::vector<std::size_t> find_markers(std::span<const std::uint8_t> bytes, std::size_t from, std::size_t end,
                                                    std::size_t most);

/// The markers of bytes that were looked through before they are parsed.
struct KnownMarkers {
  std::span<const std::size_t> at;  ///< all that find_markers() finds, from a buffer's beginning
  std::size_t begin = 0;            ///< of the bytes that are parsed, in that buffer

  /// What next_marker() gives for those bytes.
  [[nodiscard]] std::size_t next(std::span<const std::uint8_t> bytes, std::size_t from) const {
    const auto found = std::ranges::lower_bound(at, begin + from);
    if (found != at.end() && *found - begin < bytes.size()) return *found - begin;
    return from < bytes.size() && bytes.back() == 0xFF ? bytes.size() - 1 : bytes.size();
  }
};

}  // namespace c63
