#include "decide/presets.h"

#include <algorithm>
#include <cmath>

#include "decide/flat_tables.h"
#include "decide/vector_cost.h"

namespace c63 {
namespace {

/// How it is told which frames are predicted from the reference of the frame before.
enum class References {
  advance,    ///< none
  alternate,  ///< by what frames before took
  look_ahead,
};

/// What a preset says where nothing else is set.
struct Defaults {
  TableShape tables;
  HeaderSet headers;
  bool decides_by_rate;
  bool choose_levels;
  int candidates;
  int beam;
  bool unpredicted;
  bool repeats;
  References references;
  bool temporal_filter;
  bool propagated_weights;
  double chroma_lambda;
  double lambda_tilt;  ///< this power of the quality more in λ: what filtering takes away is more at high qualities
  int activity_power;
  bool finer_key_frames;
};

/// Chroma's error counts as in the field's mean of PSNR, six times that of Y and once those of U and V: two thirds, by
/// samples. To a quarter of an octave.
constexpr double kFieldsChroma = 1.41;

constexpr Defaults defaults_of(Preset preset) {
  switch (preset) {
    case Preset::reference:
      break;
    case Preset::fast:
      return {TableShape::flat, HeaderSet::compact, true, true, 0, 1, true, true, References::advance, false, false, 1, 0, 0, false};
    case Preset::good:
      return {TableShape::flat, HeaderSet::compact, true, true, 2, 4, true, true, References::alternate, false, false, 1, 0, 0, false};
    case Preset::best:
      return {TableShape::flat, HeaderSet::compact, true, true, 5, 8, true, true, References::look_ahead, true, true,
              kFieldsChroma, -0.3, 2, true};
  }
  return {TableShape::course, HeaderSet::full, false, false, 0, 1, false, false, References::advance, false, false, 1, 0, 0, false};
}

/// The weight with so many times the frame's λ.
Weight weight_of(double scale) {
  return static_cast<Weight>(std::clamp(kPlainWeight + static_cast<int>(std::lround(4 * std::log2(scale))), 0, kWeights - 1));
}

}  // namespace

PresetDecisions preset_decisions(const CodingSettings& settings) {
  const Defaults defaults = defaults_of(settings.preset);
  const RateSettings& set = settings.rate;
  PresetDecisions decisions;
  const bool flat = set.tables.value_or(defaults.tables) == TableShape::flat;
  decisions.tables = flat ? flat_tables(settings.qp) : make_quantization_tables(settings.qp);
  if (set.headers.value_or(defaults.headers) == HeaderSet::compact) {
    // The tables are sent with every key frame, so that GOPs can be cut apart and joined.
    decisions.key_headers = {.code_tables = false, .scan_components = false};
    decisions.inter_headers = {.quantization_tables = false, .code_tables = false, .scan_components = false};
  }
  RateDecisions& rate = decisions.rate;
  rate.choose_levels = set.choose_levels.value_or(defaults.choose_levels);
  rate.found_vectors = set.candidates.value_or(defaults.candidates);
  rate.beam_width = set.beam.value_or(defaults.beam);
  rate.unpredicted = set.unpredicted.value_or(defaults.unpredicted);
  rate.repeats = set.repeats.value_or(defaults.repeats);
  if (!defaults.decides_by_rate && !set.decides_by_rate()) return decisions;
  rate.chroma_weight = weight_of(set.chroma_lambda.value_or(defaults.chroma_lambda));
  rate.activity_power = set.tune == Tune::ssim ? kMostActivityPower : defaults.activity_power;
  if (defaults.finer_key_frames && flat) decisions.finer_tables = finer_tables(decisions.tables);
  constexpr double kMiddleQuality = 12;
  rate.lambda = lambda_of_qp(settings.qp, set.lambda_scale * std::pow(settings.qp / kMiddleQuality, defaults.lambda_tilt));
  decisions.lambda_power += defaults.lambda_tilt;
  rate.sad_per_bit = sad_per_bit(rate.lambda);
  decisions.lookahead = {.filter = set.temporal_filter.value_or(defaults.temporal_filter),
                         .propagate = set.propagated_weights.value_or(defaults.propagated_weights),
                         .choose_reference = set.adaptive_reference.value_or(defaults.references == References::look_ahead),
                         .lambda = rate.lambda};
  decisions.alternate = defaults.references == References::alternate && !set.adaptive_reference;
  return decisions;
}

bool looks_ahead(const CodingSettings& settings) { return preset_decisions(settings).lookahead.any(); }

}  // namespace c63
