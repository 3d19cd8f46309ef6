#pragma once

#include <cstdint>
#include <span>

namespace c63 {

/// Copies `from` to the start of `to`. Where it is large, several threads copy pieces of it, past the caches: one thread
/// moves a fraction of what memory gives, and what a device fetches next is of no use in a cache.
void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to);

}  // namespace c63
