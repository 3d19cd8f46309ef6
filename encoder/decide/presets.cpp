#include "decide/presets.h"

#include <algorithm>
#include <cmath>

#include "decide/flat_tables.h"
#include "decide/vector_cost.h"

namespace c63 {
namespace {

/// How frames that keep the previous frame's reference are chosen.
enum class References {
  advance,    ///< no frame does
  alternate,  ///< by the bits of earlier frames
  look_ahead,
};

/// A preset's defaults. The initial values are the reference preset's.
struct Defaults {
  TableShape tables = TableShape::course;
  HeaderSet headers = HeaderSet::full;
  bool decides_by_rate = false;
  bool choose_levels = false;
  int candidates = 0;
  int beam = 1;
  bool unpredicted = false;
  bool repeats = false;
  References references = References::advance;
  bool temporal_filter = false;
  bool propagated_weights = false;
  double chroma_lambda = 1;
  double lambda_tilt = 0;  ///< λ grows with this power of the quality: filtering removes more at high qualities
  int activity_power = 0;
  bool finer_key_frames = false;
};

/// λ of chroma so that errors count as in the usual mean PSNR: six times Y's, once U's and V's. By samples this is two thirds,
/// rounded to a quarter of an octave.
constexpr double kFieldsChroma = 1.41;

constexpr Defaults defaults_of(Preset preset) {
  Defaults defaults;
  if (preset == Preset::reference) return defaults;
  defaults.tables = TableShape::flat;
  defaults.headers = HeaderSet::compact;
  defaults.decides_by_rate = defaults.choose_levels = defaults.unpredicted = defaults.repeats = true;
  if (preset == Preset::good) {
    defaults.candidates = 2;
    defaults.beam = 4;
    defaults.references = References::alternate;
    defaults.chroma_lambda = kFieldsChroma;
  }
  if (preset == Preset::best) {
    defaults.candidates = 5;
    defaults.beam = 8;
    defaults.references = References::look_ahead;
    defaults.temporal_filter = defaults.propagated_weights = defaults.finer_key_frames = true;
    defaults.chroma_lambda = kFieldsChroma;
    defaults.lambda_tilt = -0.3;
    defaults.activity_power = 2;
  }
  return defaults;
}

/// The weight for `scale` times the frame's λ.
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
    // Every key frame has the tables, so that GOPs can be cut apart and joined.
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
  if (settings.frame_interval > 1) {
    // Frames are predicted from ones that are further away than looking ahead assumes.
    decisions.lookahead = {};
    decisions.alternate = false;
  }
  return decisions;
}

bool looks_ahead(const CodingSettings& settings) { return preset_decisions(settings).lookahead.any(); }

}  // namespace c63
