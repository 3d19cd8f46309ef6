#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "codec/geometry.h"
#include "codec/host_device.h"

namespace c63 {

inline constexpr int kMinQp = 5;
inline constexpr int kMaxQp = 50;
/// Up to this qp, every level has a code that every decoder can read, if the tables are the course encoder's.
inline constexpr int kMaxExactQp = 25;

/// The position (row·8 + column) of the k-th coefficient in zig-zag order.
inline constexpr std::array<std::uint8_t, 64> kZigZag = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// The inverse of kZigZag: the place in zig-zag order of the coefficient at position row·8 + column.
inline constexpr std::array<std::uint8_t, 64> kZigZagPlace = [] {
  std::array<std::uint8_t, 64> places{};
  for (std::size_t k = 0; k < 64; ++k) places[kZigZag[k]] = static_cast<std::uint8_t>(k);
  return places;
}();

/// The quantization steps of a plane, in zig-zag order.
using QuantizationTable = std::array<std::uint8_t, 64>;
/// The tables of Y, U and V.
using QuantizationTables = std::array<QuantizationTable, kPlanes>;

inline constexpr QuantizationTable kLumaBaseTable = {
    16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18,  17,  16,  19, 24, 40,  26,  24,  22,  22, 24,  49,
    35, 37, 29, 40, 58, 51, 61, 30, 57, 51, 56,  55,  64,  72, 92, 78,  64,  68,  87,  69, 55,  56,
    80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99};
inline constexpr QuantizationTable kChromaBaseTable = {
    17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

/// Returns the course encoder's tables for a qp in kMinQp..kMaxQp: base / (qp/10), truncated to an integer.
[[nodiscard]] constexpr QuantizationTables make_quantization_tables(double qp) {
  QuantizationTables tables{};
  for (int plane = 0; plane < kPlanes; ++plane) {
    const QuantizationTable& base = plane == 0 ? kLumaBaseTable : kChromaBaseTable;
    for (std::size_t k = 0; k < 64; ++k) {
      tables[plane][k] = static_cast<std::uint8_t>(base[k] / (qp / 10.0));
    }
  }
  return tables;
}

/// Returns the largest magnitude of an AC level that the encoder writes. The course encoder writes luma's size 10 with
/// the code of size 9 (bitstream.md, "Q-AC10"), and no decoder can read that. So luma stops at 511, the largest number
/// of size 9. With the course encoder's tables, no level is larger at qp <= kMaxExactQp. So the bytes are those of the
/// course encoder.
[[nodiscard]] C63_HD constexpr int max_ac_magnitude(int plane) { return plane == 0 ? 511 : 1023; }
/// The largest magnitude of a DC level that the encoder writes. It limits nothing: even with step 1, levels are at most
/// 2040.
inline constexpr int kMaxDcMagnitude = 2047;

/// Quantizes one scaled coefficient F: round(F / 4 / step), half away from zero. The course encoder computes this in
/// double. One binary32 division is enough. Only values of F close to a tie, halfway between two levels, could be
/// rounded to another level. A binary32 F is either exactly the tie or at least one ulp away from it, so the result is
/// the same. A product with the reciprocal of `step` would sometimes give another result.
[[nodiscard]] C63_HD inline std::int16_t quantize(float coefficient, int step) {
  return static_cast<std::int16_t>(roundf(coefficient / static_cast<float>(4 * step)));
}

/// Limits a level to what can be coded at position k of the zig-zag order.
[[nodiscard]] C63_HD inline std::int16_t clamp_coefficient(std::int16_t value, int k, int plane) {
  const int limit = k == 0 ? kMaxDcMagnitude : max_ac_magnitude(plane);
  return static_cast<std::int16_t>(value > limit ? limit : value < -limit ? -limit : value);
}

/// Returns the coefficient of a level: round(level·step / 4), half away from zero.
[[nodiscard]] C63_HD constexpr int dequantize(int level, int step) {
  const int product = level * step;
  const int magnitude = ((product < 0 ? -product : product) + 2) >> 2;
  return product < 0 ? -magnitude : magnitude;
}

}  // namespace c63
