#pragma once

#include <cstdint>
#include <span>

namespace c63 {

/// Copies `from` to the start of `to`. Several threads copy a large one, because one thread reaches only a fraction of the
/// memory's rate. The copy goes through the caches, where a device may fetch it. Past the caches it would use the memory bus
/// twice more, and that bus is the limit if several devices are fed.
void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to);

}  // namespace c63
