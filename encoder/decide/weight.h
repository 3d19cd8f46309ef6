#pragma once

#include <cstdint>

namespace c63 {

/// λ of an MCU in quarters of an octave: kPlainWeight is the frame's λ, 0 a quarter of it, kWeights - 1 four times it.
using Weight = std::uint8_t;
inline constexpr int kWeights = 17;
inline constexpr Weight kPlainWeight = 8;

}  // namespace c63
