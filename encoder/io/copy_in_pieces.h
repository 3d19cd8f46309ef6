#pragma once

#include <cstdint>
#include <span>

namespace c63 {

/// Copies `from` to the start of `to`. Where it is large, several threads copy pieces of it: one thread moves a fraction of
/// what memory gives. The copy goes through the caches, from which a device may fetch it; past them it would cross the
/// memory's bus twice more, and that bus is what limits when several devices are fed.
void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to);

}  // namespace c63
