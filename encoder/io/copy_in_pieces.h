#pragma once

#include <cstdint>
#include <span>

namespace c63 {

/// Copies `from` to the start of `to`. Several threads copy a large span, because one thread cannot use the memory's
/// full rate. The copy goes through the caches, so that a device can fetch it from there. A copy past the caches would
/// need twice as many transfers on the memory bus. That bus is the bottleneck if several devices get frames.
void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to);

}  // namespace c63
