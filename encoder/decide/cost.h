#pragma once

#include <cstdint>

#include "codec/host_device.h"

namespace c63 {

// The units of the values by which backends decide. All values that are compared are integers, so that all backends
// make the same decisions.

/// A squared error, or a cost D + λ·R, with 8 fraction bits. The squared error of a block is below 2^30: 64 residuals
/// of at most 255.5. With λ up to kMaxLambda, the bits of a block add less than 2^29.
using Cost = std::int32_t;

inline constexpr int kCostFractionBits = 8;
inline constexpr Cost kMaxLambda = 1 << 18;  ///< as a Cost, so 1024 units of squared error per bit

/// Decisions use the coefficients of the orthonormal transform with 4 fraction bits. Their squares have 8, as a Cost
/// has. Magnitudes are at most 32,704.
inline constexpr int kCoefficientFractionBits = 4;

[[nodiscard]] C63_HD constexpr Cost square(int value) { return value * value; }

/// λ of an MCU in quarters of an octave: kPlainWeight is the frame's λ, 0 a quarter of it, kWeights - 1 four times it.
using Weight = std::uint8_t;
inline constexpr int kWeights = 17;
inline constexpr Weight kPlainWeight = 8;

}  // namespace c63
