#pragma once

#include <array>
#include <cstdint>

#include "codec/host_device.h"
#include "decide/cost.h"

namespace c63 {

// The forward transform for decisions: the orthonormal 8x8 DCT in integers, so the order of additions does not matter.
// The format does not define a forward transform. The course encoder's transform (codec/dct.h) is only used to get that
// encoder's bytes.

/// The weights of the transform with 15 fraction bits: ½·cos((2r+1)·i·π/16) in row r and column i, and 1/√8 for i = 0.
/// All are below 2^14, so the sum of two products with 16-bit numbers fits in 32 bits.
inline constexpr std::array<std::array<std::int16_t, 8>, 8> kTransformWeights = {{
    {11585, 16069, 15137, 13623, 11585, 9102, 6270, 3196},
    {11585, 13623, 6270, -3196, -11585, -16069, -15137, -9102},
    {11585, 9102, -6270, -16069, -11585, 3196, 15137, 13623},
    {11585, 3196, -15137, -9102, 11585, 13623, -6270, -16069},
    {11585, -3196, -15137, 9102, 11585, -13623, -6270, 16069},
    {11585, -9102, -6270, 16069, -11585, -3196, 15137, -13623},
    {11585, -13623, 6270, 3196, -11585, 16069, -15137, 9102},
    {11585, -16069, 15137, -13623, 11585, -9102, 6270, -3196},
}};

inline constexpr int kRowShift = 12;
inline constexpr int kColumnShift = 15;

/// Returns the residual of a sample in units of half a sample. A decoder truncates residuals toward zero. Without
/// prediction, residuals are never negative. So half a sample is added to them, and the decoder's truncation works like
/// rounding.
[[nodiscard]] C63_HD constexpr std::int16_t half_samples(int current, int prediction, bool predicted) {
  return static_cast<std::int16_t>(2 * (current - prediction) + (predicted ? 0 : 1));
}

/// Transforms 64 residuals in half samples (at most 511, raster order) to coefficients with kCoefficientFractionBits,
/// in zig-zag order. `weights` is kTransformWeights and `places` is kZigZagPlace, or copies of them in other memory.
/// The results of rows are at most 11,562, the coefficients at most 32,704, and all sums stay below 2^31.
template <typename Weights, typename Places>
C63_HD inline void forward_transform(const std::int16_t residual[64], std::int16_t coefficients[64],
                                     const Weights& weights, const Places& places) {
  std::int16_t rows[64];
  for (int y = 0; y < 8; ++y) {
    for (int u = 0; u < 8; ++u) {
      std::int32_t sum = 1 << (kRowShift - 1);
      for (int x = 0; x < 8; ++x) sum += residual[y * 8 + x] * weights[x][u];
      rows[y * 8 + u] = static_cast<std::int16_t>(sum >> kRowShift);
    }
  }
  for (int u = 0; u < 8; ++u) {
    for (int v = 0; v < 8; ++v) {
      std::int32_t sum = 1 << (kColumnShift - 1);
      for (int y = 0; y < 8; ++y) sum += rows[y * 8 + u] * weights[y][v];
      coefficients[places[v * 8 + u]] = static_cast<std::int16_t>(sum >> kColumnShift);
    }
  }
}

}  // namespace c63
