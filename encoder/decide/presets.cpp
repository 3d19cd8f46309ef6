#include "decide/presets.h"

#include <algorithm>
#include <cmath>

#include "codec/geometry.h"
#include "decide/flat_tables.h"
#include "decide/repeat_frame.h"
#include "decide/vectors.h"

namespace c63 {
namespace {

/// The values of all decisions. If the settings do not set a decision, it has the preset's value.
struct Chosen {
#define C63_DECISION(type, field, ...) type field;
#include "c63/options.inc"
};

Chosen chosen(const RateSettings& set, Preset preset) {
  return {
#define C63_DECISION(type, field, defaults, ...) .field = set.field.value_or(ByPreset<type> defaults.of(preset)),
#include "c63/options.inc"
  };
}

/// Returns the weight whose λ is nearest to `scale` times the frame's λ.
Weight weight_of(double scale) {
  return static_cast<Weight>(std::clamp(kPlainWeight + static_cast<int>(std::lround(4 * std::log2(scale))), 0, kWeights - 1));
}

/// Returns what coding a frame must be worth besides its own bits: as many bits as a frame of empty blocks has. What a
/// frame saves is lost when the next frame is coded. The same bits in a key frame improve all frames that repeat it.
std::int64_t repeat_margin(const CodingSettings& settings) {
  return kLeastMcuBits * Geometry(settings.width, settings.height).mcus();
}

}  // namespace

PresetDecisions preset_decisions(const CodingSettings& settings) {
  const Chosen c = chosen(settings.rate, settings.preset);
  const bool is_best = settings.preset == Preset::best;
  PresetDecisions decisions;
  const bool flat = c.tables == TableShape::flat;
  decisions.tables = flat ? flat_tables(settings.qp) : make_quantization_tables(settings.qp);
  if (c.headers == HeaderSet::compact) {
    // Every key frame has the quantization tables, so that a stream can be cut between GOPs, and GOPs can be joined.
    decisions.key_headers = {.code_tables = false, .scan_components = false};
    decisions.inter_headers = {.quantization_tables = false, .code_tables = false, .scan_components = false};
  }
  RateDecisions& rate = decisions.rate;
  rate.choose_levels = c.choose_levels;
  rate.found_vectors = c.candidates;
  rate.beam_width = c.beam;
  rate.unpredicted = c.unpredicted;
  rate.repeats = c.repeats;
  if (!decides_by_rate(settings)) return decisions;
  if (settings.preset != Preset::reference) rate.repeat_margin = repeat_margin(settings);
  rate.chroma_weight = weight_of(c.chroma_lambda);
  rate.activity_power = settings.rate.tune == Tune::ssim ? kMostActivityPower : is_best ? 2 : 0;
  decisions.may_ignore_activity = is_best && settings.rate.tune != Tune::ssim;
  if (is_best && flat) decisions.finer_tables = finer_tables(decisions.tables);
  // At high qualities, the temporal filter of preset best removes more of what would be coded. So λ is lower there. At
  // the lowest ones, it does not fall with the quality more than that of other presets.
  constexpr double kLowQuality = 10;
  constexpr double kMiddleQuality = 12;
  const double tilt = is_best ? -0.3 : 0;
  const double tilted = std::pow(std::max(settings.qp, kLowQuality) / kMiddleQuality, tilt);
  rate.lambda = lambda_of_qp(settings.qp, settings.rate.lambda_scale * tilted);
  decisions.lambda_power += tilt;
  rate.sad_per_bit = sad_per_bit(rate.lambda);
  decisions.lookahead = {.filter = c.temporal_filter,
                         .propagate = c.propagated_weights,
                         .choose_reference = c.adaptive_reference,
                         .lambda = rate.lambda};
  decisions.alternate = settings.preset == Preset::good && !settings.rate.adaptive_reference;
  if (settings.frame_interval > 1) {
    // Looking ahead assumes that a frame is predicted from a near frame. If not all frames are coded, references are
    // further away.
    decisions.lookahead = {};
    decisions.alternate = false;
  }
  return decisions;
}

std::optional<int> flat_step(const CodingSettings& settings) {
  if (chosen(settings.rate, settings.preset).tables != TableShape::flat) return std::nullopt;
  return flat_tables(settings.qp)[0][0];
}

bool looks_ahead(const CodingSettings& settings) { return preset_decisions(settings).lookahead.any(); }

}  // namespace c63
