#pragma once

#include <cmath>

#include "c63/settings.h"
#include "decide/presets.h"

namespace c63 {

/// A size is met if it is at most the target, and at most this many octaves below it.
inline const double kSizeWindow = -std::log2(0.99);
[[nodiscard]] inline bool is_size_met(double octaves) { return octaves <= 0 && octaves >= -kSizeWindow; }

/// Returns the settings for all passes of a search, except for their quality. In preset good, trial frames decide
/// whether every second frame stays (reference_alternation.h). With that, bits would jump by a few percent at some
/// quality, and sizes in between could not be met. So it is switched off.
[[nodiscard]] inline CodingSettings settings_to_search(CodingSettings settings) {
  if (preset_decisions(settings).alternate) settings.rate.adaptive_reference = false;
  return settings;
}

/// Returns the place of a quality on the scale of the search: log2 of the qp that gives the same λ with the settings'
/// own lambda_scale. If the settings do not decide by rate, it is log2(qp).
[[nodiscard]] inline double target_place(const CodingSettings& settings, double qp, double lambda_scale) {
  const PresetDecisions decisions = preset_decisions(settings);
  const bool has_lambda = decisions.rate.any();
  return std::log2(qp) + (has_lambda ? std::log2(lambda_scale / settings.rate.lambda_scale) / decisions.lambda_power : 0);
}

}  // namespace c63
