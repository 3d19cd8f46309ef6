#pragma once

#include <cstdint>

#include "codec/host_device.h"

// Units of decisions. Everything that is compared is an integer, so that all backends decide the same.

namespace c63 {

/// A squared error with 8 fraction bits, or a rate-distortion cost D + λ·R in the same unit. The squared error of a block stays
/// below 2^30: 64 residuals of at most 255.5. With λ up to kMaxLambda, the bits of a block add less than 2^29.
using Cost = std::int32_t;

inline constexpr int kCostFractionBits = 8;
inline constexpr Cost kMaxLambda = 1 << 18;  ///< squared error per bit, with the fraction bits of a cost: 1024

/// Decisions use coefficients of the orthonormal transform with 4 fraction bits, so their squares have the 8 of a cost.
/// |coefficient| <= 32,704.
inline constexpr int kCoefficientFractionBits = 4;

[[nodiscard]] C63_HD constexpr Cost square(int value) { return value * value; }

}  // namespace c63
