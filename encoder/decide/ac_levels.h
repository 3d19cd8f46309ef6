#pragma once

#include <cstdint>

#include "codec/host_device.h"
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

}  // namespace c63
