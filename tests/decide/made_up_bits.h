#pragma once

#include <cmath>
#include <numeric>

#include "c63/settings.h"
#include "decide/presets.h"

namespace c63::test {

/// Returns how far the quality of `settings` is above qp 25, in octaves of qp, for simulated videos. It follows from
/// the decisions alone. So settings with equal decisions, which would give the same bytes, also get the same value.
[[nodiscard]] inline double place_by_decisions(CodingSettings settings) {
  const auto measure = [](const CodingSettings& of) {
    const PresetDecisions decisions = preset_decisions(of);
    if (decisions.rate.any()) return std::log2(static_cast<double>(decisions.rate.lambda)) / decisions.lambda_power;
    int sum = 0;
    for (const QuantizationTable& table : decisions.tables) sum = std::accumulate(table.begin(), table.end(), sum);
    return -std::log2(static_cast<double>(sum));
  };
  const double place = measure(settings);
  settings.qp = 25;
  settings.rate.lambda_scale = 1;
  return place - measure(settings);
}

}  // namespace c63::test
