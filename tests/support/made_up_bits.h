#pragma once

#include <cmath>
#include <numeric>

#include "c63/settings.h"
#include "decide/presets.h"

namespace c63::test {

/// The distance in octaves between the quality of `settings` and qp 25, computed from the decisions. Settings with
/// equal decisions give the same value, because they also give the same bytes.
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
