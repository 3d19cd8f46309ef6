#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "c63/settings.h"
#include "codec/quantization.h"
#include "cpu/decision_kernels.h"
#include "cpu/kernel_blocks.h"

namespace c63::cpu {

/// The quantization of one plane, in the orders and number formats that kernels need.
struct TransformTable {
  TransformTable() = default;
  TransformTable(const QuantizationTable& quantization, int plane);

  alignas(64) std::array<float, 64> divisors{};      ///< 4·step of each coefficient, in raster order
  /// The reciprocals of the divisors, and what rounding removed from them. Reciprocal plus error has a relative error
  /// below 2^-47. So for a coefficient F, fma(F, reciprocal, F·error) has a relative error below 2^-46 before it is
  /// rounded. That is enough to round to the same level as a division: a quotient n + 1/2 is computed exactly, and
  /// every other quotient is at least one ulp away from n + 1/2.
  alignas(64) std::array<float, 64> reciprocals{};
  alignas(64) std::array<float, 64> reciprocal_errors{};
  alignas(64) std::array<std::int32_t, 64> column_steps{};  ///< steps in raster order, with rows and columns exchanged
  /// Like column_steps, with the steps of odd columns in the upper 16 bits.
  alignas(64) std::array<std::int32_t, 64> column_pair_steps{};
  alignas(64) std::array<std::int16_t, 64> limits{};  ///< largest magnitude that can be coded, in zig-zag order
  QuantizationTable steps{};                          ///< in zig-zag order
  int plane = 0;
};

/// Sums over a 4x4 block of two pictures, for SSIM: Σa, Σb, Σ(a²+b²), Σab.
struct SsimSums {
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::int32_t squares = 0;
  std::int32_t products = 0;
};

/// Kernels may read this many bytes before and after every plane, and this many entries after every plane of quarter
/// sums. So these must exist. Their values do not matter.
inline constexpr std::size_t kPlaneGuard = 64;

/// The kernels: functions that exist once per instruction set. All forms give the same results, bit for bit.
struct Kernels {
  SimdLevel level;

  /// SAD of two 8x8 blocks.
  std::uint32_t (*sad)(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch);

  /// Finds the `count` candidates of each block's window with the lowest SAD plus vector cost. Of equal ones, the first
  /// in raster order is better. Writes candidate_key(cost, index) of each to the block's `keys`, best first, and
  /// UINT32_MAX if there are fewer candidates; `index` is the number of a candidate in raster order. `costs` is null if
  /// vectors cost nothing. `sums` are the quarter sums of the reference plane. A candidate may be skipped if its sums
  /// prove that it is worse than others; without sums, every SAD is computed.
  void (*search)(std::span<const BlockSearch> blocks, const QuarterSumsView& sums, const SearchCosts* costs,
                 std::size_t count);

  /// Computes the quarter sums of the 4x4 samples that begin at (x, y), for x from 0 to count - 1 and y from 0 to rows
  /// - 1. Reads rows + 3 rows of count + 3 samples. `pitch` is that of the samples, `sums_pitch` that of the sums.
  void (*quarter_sums)(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* sums,
                       std::ptrdiff_t sums_pitch);

  /// Computes, transforms and quantizes the residuals of neighbouring blocks, one for each prediction. Writes 64 levels
  /// for each block, in zig-zag order.
  void (*transform_quantize)(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                      std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels);

  /// Dequantizes and inversely transforms the levels of neighbouring blocks, and adds the predictions.
  void (*dequantize_reconstruct)(const std::int16_t* levels, const TransformTable& table,
                         std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                         std::ptrdiff_t reconstruction_pitch);

  /// Computes the sums of `count` neighbouring 4x4 blocks.
  void (*ssim_sums)(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                    int count, SsimSums* sums);

  /// Interpolates the half samples (decide/fine_motion.h) of `count` neighbouring samples: to the right, below, and both.
  /// Reads columns -2 to count + 2 and rows -2 to 3.
  void (*half_samples)(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, std::uint8_t* right, std::uint8_t* below,
                       std::uint8_t* both);

  /// Adds the SADs of an 8x8 block at all fractions of a vector to kFractions sums, in raster order. `planes` point to the
  /// whole vector's place in the interpolated planes. With `step` 2, only half samples are computed.
  void (*fraction_sads)(const std::uint8_t* current, std::ptrdiff_t current_pitch, const std::array<const std::uint8_t*, 4>& planes,
                        std::ptrdiff_t pitch, int step, std::uint32_t* sums);

  const DecisionKernels& (*decisions)();
};

/// Returns the kernels of `level`, or without a level the fastest that this machine has. Throws Error (usage) if the
/// machine or this build does not have `level`.
[[nodiscard]] const Kernels& kernels(std::optional<SimdLevel> level = {});

/// The costs of vectors that cost nothing.
[[nodiscard]] const SearchCosts& free_vectors();

/// The kernels that define the correct results.
[[nodiscard]] const Kernels& scalar_kernels();

// Tables of the instruction sets in this build. Use them only if the machine has the instruction set.
[[nodiscard]] const Kernels& sse4_kernels();
[[nodiscard]] const Kernels& avx2_kernels();
[[nodiscard]] const Kernels& avx512_kernels();
[[nodiscard]] const Kernels& neon_kernels();
[[nodiscard]] const Kernels& simd128_kernels();

}  // namespace c63::cpu
