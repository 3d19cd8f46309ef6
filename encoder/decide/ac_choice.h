#pragma once

#include <bit>
#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "codec/vlc.h"
#include "decide/ac_levels.h"
#include "decide/cost.h"
#include "decide/quantizer.h"

namespace c63 {

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

}  // namespace c63
