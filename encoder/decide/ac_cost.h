#pragma once

#include <bit>
#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "decide/ac_levels.h"
#include "decide/cost.h"
#include "decide/quantizer.h"

namespace c63 {

/// What choose_ac_levels() returns, without the levels: only those ways are kept that the next coefficient may continue, so
/// that everything fits in registers. For devices.
C63_HD inline Cost ac_cost(const std::int16_t* coefficients, const AcSummary& summary, const Quantizer& quantizer,
                           const AcBits& bits, Cost lambda) {
  /// The cheapest way to come to a coefficient, less that of all zeros.
  struct Way {
    Cost cost;
    int k;
  };
  // Dearer than any way there is, and no sum with it overflows: levels gain less than 2^30, bits cost less than 2^29.
  constexpr Cost kNoWay = 1 << 30;
  // The cheapest of all older ones first, then the last kLookBack.
  static_assert(kLookBack == 3);
  Way older{kNoWay, 0};
  Way third{kNoWay, 0};
  Way second{kNoWay, 0};
  Way last{0, 0};
  Cost best = lambda * bits.end_of_block;
  for (std::uint64_t kept = summary.kept; kept != 0; kept &= kept - 1) {
#if defined(__CUDA_ARCH__)
    const int k = __ffsll(static_cast<long long>(kept)) - 1;
#else
    const int k = std::countr_zero(kept);
#endif
    const int magnitude = coefficients[k] < 0 ? -coefficients[k] : coefficients[k];
    const int nearest = nearest_kept_level(magnitude, quantizer, k);
    const int lower = nearest > 1 ? nearest - 1 : 1;  // of equals the first counts
    const int step = quantizer.steps[static_cast<std::size_t>(k)];
    const Cost gain = square(magnitude - reconstruct_level(nearest, step)) - square(magnitude);
    const Cost lower_gain = square(magnitude - reconstruct_level(lower, step)) - square(magnitude);
    const int size = value_size(nearest);
    const int lower_size = value_size(lower);
    Cost cost = kNoWay;
    const auto continue_way = [&](const Way& way) {
      const int zeros = k - way.k - 1;
      const Cost as_nearest = way.cost + gain + lambda * bits.level(zeros, size);
      const Cost as_lower = way.cost + lower_gain + lambda * bits.level(zeros, lower_size);
      cost = as_nearest < cost ? as_nearest : cost;
      cost = as_lower < cost ? as_lower : cost;
    };
    continue_way(older);
    continue_way(third);
    continue_way(second);
    continue_way(last);
    if (third.cost <= older.cost) older = third;
    third = second;
    second = last;
    last = {cost, k};
    const Cost ended = cost + (k < 63 ? lambda * bits.end_of_block : 0);
    best = ended < best ? ended : best;
  }
  return summary.energy + best;
}

}  // namespace c63
