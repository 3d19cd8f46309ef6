#pragma once

#include <algorithm>
#include <cmath>

#include "codec/quantization.h"
#include "decide/cost.h"

// Tables with the same step for all coefficients. The course encoder's tables have larger steps for higher frequencies.
// At the same bits, equal steps give a smaller squared error.

namespace c63 {

/// Returns the step, in sixteenths, that gives about the same quality as the course encoder's tables with this qp:
/// 74·qp^-0.6.
[[nodiscard]] inline int equal_step_in_sixteenths(double qp) {
  return static_cast<int>(std::lround(16.0 * 74.0 * std::pow(qp, -0.6)));
}

[[nodiscard]] inline QuantizationTables flat_tables_of_step(int step) {
  QuantizationTables tables;
  for (QuantizationTable& table : tables) table.fill(static_cast<std::uint8_t>(step));
  return tables;
}

/// Returns flat tables for a qp. The step is a multiple of four, because a decoder restores a coefficient as
/// level·step/4, rounded. With other steps, the distances between coefficients would be uneven. Qualities with the same
/// step differ only in λ.
[[nodiscard]] inline QuantizationTables flat_tables(double qp) {
  return flat_tables_of_step(std::clamp((equal_step_in_sixteenths(qp) + 32) / 64 * 4, 4, 252));
}

/// Returns flat tables whose step is four fifths of the step of `flat`, rounded to a multiple of four.
[[nodiscard]] inline QuantizationTables finer_tables(const QuantizationTables& flat) {
  return flat_tables_of_step(std::max(4, (flat[0][0] + 2) / 5 * 4));
}

/// Returns λ = 0.2·step², times `scale`, from 1 to kMaxLambda. `step` is equal_step_in_sixteenths() / 16, so it is not
/// rounded to a multiple of four. With scale 1, a video has the best quality for its size.
[[nodiscard]] inline Cost lambda_of_qp(double qp, double scale) {
  const double step = equal_step_in_sixteenths(qp) / 16.0;
  const double lambda = scale * 0.2 * step * step * (1 << kCostFractionBits);
  return static_cast<Cost>(std::lround(std::clamp(lambda, 1.0, static_cast<double>(kMaxLambda))));
}

}  // namespace c63
