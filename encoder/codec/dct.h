#pragma once

#include <array>
#include <cstdint>

#include "codec/host_device.h"

namespace c63 {

/// cos((2r+1)·i·π/16), rounded to six decimals, in row r and column i. This table of the course codec is part of the
/// format.
inline constexpr std::array<std::array<float, 8>, 8> kDctCosines = {{
    {1.0F, 0.980785F, 0.923880F, 0.831470F, 0.707107F, 0.555570F, 0.382683F, 0.195090F},
    {1.0F, 0.831470F, 0.382683F, -0.195090F, -0.707107F, -0.980785F, -0.923880F, -0.555570F},
    {1.0F, 0.555570F, -0.382683F, -0.980785F, -0.707107F, 0.195090F, 0.923880F, 0.831470F},
    {1.0F, 0.195090F, -0.923880F, -0.555570F, 0.707107F, 0.831470F, -0.382683F, -0.980785F},
    {1.0F, -0.195090F, -0.923880F, 0.555570F, 0.707107F, -0.831470F, -0.382683F, 0.980785F},
    {1.0F, -0.555570F, -0.382683F, 0.980785F, -0.707107F, -0.195090F, 0.923880F, -0.831470F},
    {1.0F, -0.831470F, 0.382683F, 0.195090F, -0.707107F, 0.980785F, -0.923880F, 0.555570F},
    {1.0F, -0.980785F, 0.923880F, -0.831470F, 0.707107F, -0.555570F, 0.382683F, -0.195090F},
}};

/// 1/√2. The first row and the first column of coefficients are multiplied by it.
inline constexpr float kDctScale = 0.70710678118654F;

/// Scales coefficient (v, u), in both transforms. DC is multiplied and rounded twice; one factor of 0.5 would give
/// other results.
[[nodiscard]] C63_HD inline float scale_coefficient(float value, int v, int u) {
  if (u == 0) value *= kDctScale;
  if (v == 0) value *= kDctScale;
  return value;
}

// Every sum below begins with the product of index 0 and adds the others in ascending order. Each product and each sum
// is rounded to binary32. This order is part of the format, so fused multiply-add is forbidden (-ffp-contract=off,
// -fmad=false). `cosines` is kDctCosines, or a copy of it in other memory.

/// Transforms a residual in raster order to scaled coefficients in raster order (row v, column u).
template <typename Cosines>
C63_HD inline void forward_dct(const std::int16_t residual[64], float coefficients[64], const Cosines& cosines) {
  float rows[64];
  for (int v = 0; v < 8; ++v) {
    for (int i = 0; i < 8; ++i) {
      float sum = static_cast<float>(residual[v * 8]) * cosines[0][i];
      for (int j = 1; j < 8; ++j) sum += static_cast<float>(residual[v * 8 + j]) * cosines[j][i];
      rows[v * 8 + i] = sum;
    }
  }
  for (int u = 0; u < 8; ++u) {
    for (int i = 0; i < 8; ++i) {
      float sum = rows[u] * cosines[0][i];
      for (int j = 1; j < 8; ++j) sum += rows[j * 8 + u] * cosines[j][i];
      coefficients[i * 8 + u] = scale_coefficient(sum, i, u);
    }
  }
}

/// Transforms dequantized coefficients (not scaled, raster order) back to a residual in raster order.
template <typename Cosines>
C63_HD inline void inverse_dct(const float coefficients[64], std::int16_t residual[64], const Cosines& cosines) {
  float rows[64];
  for (int v = 0; v < 8; ++v) {
    float scaled[8];
    for (int u = 0; u < 8; ++u) scaled[u] = scale_coefficient(coefficients[v * 8 + u], v, u);
    for (int i = 0; i < 8; ++i) {
      float sum = scaled[0] * cosines[i][0];
      for (int j = 1; j < 8; ++j) sum += scaled[j] * cosines[i][j];
      rows[v * 8 + i] = sum;
    }
  }
  for (int u = 0; u < 8; ++u) {
    for (int i = 0; i < 8; ++i) {
      float sum = rows[u] * cosines[i][0];
      for (int j = 1; j < 8; ++j) sum += rows[j * 8 + u] * cosines[i][j];
      // The sum is truncated toward zero to 32 bits, then cut to the low 16 bits. In the course codec's x86 build, sums
      // of hostile input overflow in the same way.
      residual[i * 8 + u] = static_cast<std::int16_t>(static_cast<std::int32_t>(sum));
    }
  }
}

/// Returns prediction plus residual, wrapped to 16 bits and then clamped to 0..255.
[[nodiscard]] C63_HD inline std::uint8_t reconstruct_sample(std::int16_t residual, std::uint8_t prediction) {
  const auto sum = static_cast<std::int16_t>(static_cast<std::int32_t>(residual) + prediction);
  return static_cast<std::uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

}  // namespace c63
