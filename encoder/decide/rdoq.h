#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/dct.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/quantization.h"
#include "codec/vlc.h"
#include "decide/cost.h"

namespace c63 {

/// Returns the coefficient that a decoder restores from a level >= 0, with kCoefficientFractionBits.
[[nodiscard]] C63_HD constexpr int reconstruct_level(int level, int step) {
  return dequantize(level, step) << (2 + kCoefficientFractionBits);
}

/// The quantization of one plane, as decisions use it. All arrays are in zig-zag order.
struct Quantizer {
  std::array<std::uint8_t, 64> steps{};
  std::array<std::int32_t, 64> reciprocals{};              ///< round(2^16 / step)
  /// AC coefficients with at most this magnitude always become zero.
  alignas(64) std::array<std::int16_t, 64> thresholds{};
  int max_level = 0;                                       ///< largest AC level

  Quantizer() = default;
  constexpr Quantizer(const QuantizationTable& table, int plane) : steps(table), max_level(max_ac_magnitude(plane)) {
    for (std::size_t k = 0; k < 64; ++k) {
      const int step = table[k];
      reciprocals[k] = (65536 + step / 2) / step;
      // Level 1 stands for the value reconstruct_level(1). A magnitude of at most half of this value is at least as
      // near to 0.
      thresholds[k] = static_cast<std::int16_t>(k == 0 ? INT16_MAX : reconstruct_level(1, step) / 2);
    }
  }
};

/// Returns the level nearest to a coefficient of magnitude <= 32,704. Because the reciprocal is rounded, it may be the
/// second nearest if two levels are almost equally near.
[[nodiscard]] C63_HD constexpr int nearest_level(int magnitude, std::int32_t reciprocal) {
  return (magnitude * reciprocal + (1 << 19)) >> 20;
}

/// What is needed to choose the levels of a block's AC coefficients.
struct AcSummary {
  std::uint64_t kept = 0;  ///< bit k: coefficient k (zig-zag order) is above its threshold; all others become zero
  Cost energy = 0;         ///< squared error if all AC coefficients become zero
};

/// Summarizes 64 coefficients in zig-zag order. The first, DC, is ignored.
[[nodiscard]] C63_HD inline AcSummary summarize_ac(const std::int16_t coefficients[64], const Quantizer& quantizer) {
  AcSummary summary;
  for (int k = 1; k < 64; ++k) {
    const int magnitude = coefficients[k] < 0 ? -coefficients[k] : coefficients[k];
    summary.energy += square(magnitude);
    if (magnitude > quantizer.thresholds[k]) summary.kept |= std::uint64_t{1} << k;
  }
  return summary;
}

/// Returns the level nearest to a kept coefficient, limited to 1..max_level.
[[nodiscard]] C63_HD inline int nearest_kept_level(int magnitude, std::int32_t reciprocal, int max_level) {
  const int level = nearest_level(magnitude, reciprocal);
  return level < 1 ? 1 : level > max_level ? max_level : level;
}
[[nodiscard]] C63_HD inline int nearest_kept_level(int magnitude, const Quantizer& quantizer, int k) {
  return nearest_kept_level(magnitude, quantizer.reciprocals[k], quantizer.max_level);
}

/// The AC levels chosen for a block, as two masks with one bit for each coefficient in zig-zag order, and their cost.
struct AcChoice {
  Cost cost = 0;
  std::uint64_t coded = 0;  ///< coefficients whose level is not zero
  std::uint64_t lower = 0;  ///< coefficients whose level is one below the nearest level
};

/// Returns the level of a coefficient that is not coded as zero. `lower` is the coefficient's bit in AcChoice::lower.
/// `reciprocal` and `max_level` are the quantizer's.
[[nodiscard]] C63_HD inline int chosen_level(int coefficient, std::int32_t reciprocal, int max_level, bool lower) {
  const int level = nearest_kept_level(coefficient < 0 ? -coefficient : coefficient, reciprocal, max_level) - (lower ? 1 : 0);
  return coefficient < 0 ? -level : level;
}

[[nodiscard]] C63_HD inline int chosen_level(int coefficient, const Quantizer& quantizer, int k, bool lower) {
  return chosen_level(coefficient, quantizer.reciprocals[k], quantizer.max_level, lower);
}

/// A path to a kept coefficient continues the path to one of the kLookBack kept coefficients before it, or the cheapest
/// older path.
inline constexpr int kLookBack = 3;

/// Chooses the AC levels of a block by D + λR: rate-distortion optimized quantization, as a search for the cheapest
/// path. A path codes some of the kept coefficients, each with its nearest level or the one below. It codes all others
/// as zero.
///
/// The cheapest path to a kept coefficient continues a path to an earlier one: to one of the last kLookBack kept
/// coefficients, or the cheapest path to an older one. The block's start counts as a coefficient. Equal costs are
/// decided as follows. Among the older paths, the path to the later coefficient is continued. Among all others, the
/// path from the earlier coefficient wins. If both levels cost the same, the nearest level wins.
///
/// `coefficients` are in zig-zag order; the first, DC, is ignored. The cost is the squared error of the AC coefficients
/// plus λ times their bits, including the end of block. Only the paths that the next coefficient may continue are kept,
/// each with masks of its choices, so that everything fits in registers.
C63_HD inline AcChoice choose_ac_masks(const std::int16_t* coefficients, const AcSummary& summary,
                                       const Quantizer& quantizer, const AcBits& bits, Cost lambda) {
  /// The cheapest path that ends at coefficient k. Its cost is the difference from coding all coefficients as zero.
  struct Way {
    AcChoice choice;
    int k;
  };
  // Higher than the cost of any path. A sum of it and of a path's costs does not overflow: levels gain less than 2^30,
  // and bits cost less than 2^29.
  constexpr Cost kNoWay = 1 << 30;
  // `last`, `second` and `third` are the paths to the last kLookBack kept coefficients; `older` is the cheapest of all
  // earlier ones.
  static_assert(kLookBack == 3);
  Way older{{kNoWay, 0, 0}, 0};
  Way third = older;
  Way second = older;
  Way last{{0, 0, 0}, 0};
  AcChoice best{lambda * bits.end_of_block, 0, 0};
  for (std::uint64_t kept = summary.kept; kept != 0; kept &= kept - 1) {
#if defined(__CUDA_ARCH__)
    const int k = __ffsll(static_cast<long long>(kept)) - 1;
#else
    const int k = std::countr_zero(kept);
#endif
    const int magnitude = coefficients[k] < 0 ? -coefficients[k] : coefficients[k];
    const int nearest = nearest_kept_level(magnitude, quantizer, k);
    const int lower = nearest > 1 ? nearest - 1 : 1;  // if it equals `nearest`, continue_way() takes the nearest
    const int step = quantizer.steps[static_cast<std::size_t>(k)];
    const Cost gain = square(magnitude - reconstruct_level(nearest, step)) - square(magnitude);
    const Cost lower_gain = square(magnitude - reconstruct_level(lower, step)) - square(magnitude);
    const int size = value_size(nearest);
    const int lower_size = value_size(lower);
    Way way{{kNoWay, 0, 0}, k};
    bool is_lower = false;
    const auto continue_way = [&](const Way& before) {
      const int zeros = k - before.k - 1;
      const Cost as_nearest = before.choice.cost + gain + lambda * bits.level(zeros, size);
      const Cost as_lower = before.choice.cost + lower_gain + lambda * bits.level(zeros, lower_size);
      const bool takes_lower = as_lower < as_nearest;
      const Cost cost = takes_lower ? as_lower : as_nearest;
      if (cost < way.choice.cost) {
        way.choice = {cost, before.choice.coded, before.choice.lower};
        is_lower = takes_lower;
      }
    };
    continue_way(older);
    continue_way(third);
    continue_way(second);
    continue_way(last);
    way.choice.coded |= std::uint64_t{1} << k;
    way.choice.lower |= std::uint64_t{is_lower} << k;
    if (third.choice.cost <= older.choice.cost) older = third;
    third = second;
    second = last;
    last = way;
    const Cost ended = way.choice.cost + (k < 63 ? lambda * bits.end_of_block : 0);
    if (ended < best.cost) best = {ended, way.choice.coded, way.choice.lower};
  }
  best.cost += summary.energy;
  return best;
}

/// Gives every kept coefficient its nearest level. The parameters and the result are those of choose_ac_masks().
C63_HD inline AcChoice round_ac_masks(const std::int16_t* coefficients, const AcSummary& summary,
                                      const Quantizer& quantizer, const AcBits& bits, Cost lambda) {
  Cost cost = summary.energy;
  int last = 0;
  for (int k = 1; k < 64; ++k) {
    if ((summary.kept >> k & 1) == 0) continue;
    const int magnitude = coefficients[k] < 0 ? -coefficients[k] : coefficients[k];
    const int level = nearest_kept_level(magnitude, quantizer, k);
    cost += square(magnitude - reconstruct_level(level, quantizer.steps[k])) - square(magnitude) +
            lambda * bits.level(k - last - 1, value_size(level));
    last = k;
  }
  return {last < 63 ? cost + lambda * bits.end_of_block : cost, summary.kept, 0};
}

// ---- DC

inline constexpr int kDcLevels = 4;

/// The DC levels to try for a block: the level nearest to its coefficient, zero, and the nearest level's two neighbours
/// (first the one nearer to zero). Levels that repeat an earlier one are not valid.
struct DcLevels {
  std::array<std::int16_t, kDcLevels> levels{};
  std::array<bool, kDcLevels> valid{};
  std::array<Cost, kDcLevels> errors{};  ///< squared error of the DC coefficient
};

[[nodiscard]] C63_HD inline DcLevels dc_levels(int coefficient, int step, std::int32_t reciprocal) {
  const int sign = coefficient < 0 ? -1 : 1;
  const int magnitude = sign * coefficient;
  int nearest = nearest_level(magnitude, reciprocal);
  if (nearest > kMaxDcMagnitude - 1) nearest = kMaxDcMagnitude - 1;
  const std::array<int, kDcLevels> candidates = {nearest, 0, nearest - 1, nearest + 1};
  DcLevels dc;
  for (std::size_t i = 0; i < kDcLevels; ++i) {
    const int level = candidates[i] < 0 ? 0 : candidates[i];
    dc.levels[i] = static_cast<std::int16_t>(sign * level);
    dc.errors[i] = square(magnitude - reconstruct_level(level, step));
  }
  dc.valid = {true, nearest > 0, nearest > 1, true};
  return dc;
}

/// The value that a decoder adds to every sample of a block with only this DC level.
[[nodiscard]] C63_HD inline int flat_residual(int level, int step) {
  const auto value = static_cast<float>(dequantize(level, step));
  return static_cast<std::int32_t>(scale_coefficient(value, 0, 0));
}

/// Returns the squared error of a block with only a DC level, if no sample is clamped. `flat` is flat_residual() of the
/// level. `residual_sum` and `residual_squares` are the sums of the block's residuals and of their squares.
[[nodiscard]] C63_HD constexpr Cost flat_error(int residual_sum, int residual_squares, int flat) {
  return (residual_squares - 2 * flat * residual_sum + kBlockSamples * flat * flat) * (1 << kCostFractionBits);
}

}  // namespace c63
