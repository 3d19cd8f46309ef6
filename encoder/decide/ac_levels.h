#pragma once

#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "codec/vlc.h"
#include "decide/cost.h"
#include "decide/quantizer.h"

namespace c63 {

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
/// `coefficients` are in zig-zag order; the first, DC, is ignored. If `levels` is not null, it receives 64 levels, of
/// which the first is 0. Returns the squared error of the AC coefficients plus λ times their bits, including the end of
/// block.
C63_HD inline Cost choose_ac_levels(const std::int16_t coefficients[64], const AcSummary& summary,
                                    const Quantizer& quantizer, const AcBits& bits, Cost lambda, std::int16_t* levels) {
  struct Node {
    Cost cost;  // cost of the path to this coefficient, minus the cost of coding all as zero
    std::int16_t level;
    std::int8_t k;
    std::int8_t previous;
  };
  Node nodes[64];
  nodes[0] = {0, 0, 0, 0};
  int count = 1;
  int older = 0;
  for (int k = 1; k < 64; ++k) {
    if ((summary.kept >> k & 1) == 0) continue;
    const int magnitude = coefficients[k] < 0 ? -coefficients[k] : coefficients[k];
    const int nearest = nearest_kept_level(magnitude, quantizer, k);
    Node node{INT32_MAX, 0, static_cast<std::int8_t>(k), 0};
    const int last_older = count - 1 - kLookBack;
    if (last_older > 0 && nodes[last_older].cost <= nodes[older].cost) older = last_older;
    for (int p = last_older < 0 ? 0 : last_older; p < count; ++p) {
      const int from = p == last_older ? older : p;
      for (int level = nearest; level >= 1 && level >= nearest - 1; --level) {
        const Cost distortion = square(magnitude - reconstruct_level(level, quantizer.steps[k])) - square(magnitude);
        const Cost cost = nodes[from].cost + distortion + lambda * bits.level(k - nodes[from].k - 1, value_size(level));
        if (cost < node.cost) {
          node.cost = cost;
          node.level = static_cast<std::int16_t>(level);
          node.previous = static_cast<std::int8_t>(from);
        }
      }
    }
    nodes[count++] = node;
  }
  Cost best = lambda * bits.end_of_block;
  int last = 0;
  for (int i = 1; i < count; ++i) {
    const Cost cost = nodes[i].cost + (nodes[i].k < 63 ? lambda * bits.end_of_block : 0);
    if (cost < best) {
      best = cost;
      last = i;
    }
  }
  if (levels != nullptr) {
    for (int k = 0; k < 64; ++k) levels[k] = 0;
    for (int i = last; i > 0; i = nodes[i].previous) {
      const int k = nodes[i].k;
      levels[k] = static_cast<std::int16_t>(coefficients[k] < 0 ? -nodes[i].level : nodes[i].level);
    }
  }
  return summary.energy + best;
}

/// Gives every kept coefficient its nearest level. The parameters and the result are those of choose_ac_levels().
C63_HD inline Cost round_ac_levels(const std::int16_t coefficients[64], const AcSummary& summary, const Quantizer& quantizer,
                                   const AcBits& bits, Cost lambda, std::int16_t* levels) {
  Cost cost = summary.energy;
  int last = 0;
  if (levels != nullptr) {
    for (int k = 0; k < 64; ++k) levels[k] = 0;
  }
  for (int k = 1; k < 64; ++k) {
    if ((summary.kept >> k & 1) == 0) continue;
    const int magnitude = coefficients[k] < 0 ? -coefficients[k] : coefficients[k];
    const int level = nearest_kept_level(magnitude, quantizer, k);
    cost += square(magnitude - reconstruct_level(level, quantizer.steps[k])) - square(magnitude) +
            lambda * bits.level(k - last - 1, value_size(level));
    last = k;
    if (levels != nullptr) levels[k] = static_cast<std::int16_t>(coefficients[k] < 0 ? -level : level);
  }
  return last < 63 ? cost + lambda * bits.end_of_block : cost;
}

}  // namespace c63
