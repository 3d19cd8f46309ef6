#include "compare/ab_result.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "common/json.h"

namespace c63::tools {
namespace {

std::vector<const AbPoint*> points_of(const AbResult& r, std::size_t input, std::size_t configuration) {
  std::vector<const AbPoint*> points;
  for (const AbPoint& p : r.points) {
    if (p.input == input && p.configuration == configuration) points.push_back(&p);
  }
  return points;
}

std::vector<RdPoint> curve(const std::vector<const AbPoint*>& points, const std::string& metric) {
  std::vector<RdPoint> curve;
  for (const AbPoint* p : points) {
    const VideoQuality& q = p->quality;
    const double quality = metric == "psnr_y"     ? q.psnr_of_video(0)
                           : metric == "psnr_all" ? q.psnr_of_video(3)
                                                  : q.totals.mean_ssim(0);
    curve.push_back({p->kilobits_per_s, quality});
  }
  return curve;
}

/// Returns the speed of each round over several points, in frames per second. A stop may leave some points with fewer rounds.
/// Later rounds then count only the points that have them.
std::vector<double> speed_by_round(const AbResult& r, const std::vector<const AbPoint*>& points) {
  std::vector<double> speeds;
  for (std::size_t round = 0; round < static_cast<std::size_t>(r.repeat); ++round) {
    double seconds = 0;
    double frames = 0;
    for (const AbPoint* p : points) {
      if (r.seconds(*p).size() <= round) continue;
      seconds += r.seconds(*p)[round];
      frames += static_cast<double>(r.inputs[p->input].frames);
    }
    if (frames > 0) speeds.push_back(frames / seconds);
  }
  return speeds;
}

/// Compares point by point if both sides have the same points. Otherwise compares all points of one side with all of
/// the other.
Ratio speed_ratio(const AbResult& r, const std::vector<const AbPoint*>& anchor, const std::vector<const AbPoint*>& test) {
  std::vector<PairedSpeeds> pairs;
  for (const AbPoint* a : anchor) {
    for (const AbPoint* t : test) {
      if (a->input == t->input && a->quantizer == t->quantizer) pairs.push_back({speed_by_round(r, {a}), speed_by_round(r, {t})});
    }
  }
  if (pairs.size() != anchor.size() || pairs.size() != test.size()) pairs = {{speed_by_round(r, anchor), speed_by_round(r, test)}};
  return ratio_of_points(pairs);
}

void add_speed(AbResult& r, std::size_t anchor, std::size_t configuration, const nlohmann::ordered_json& input,
               const nlohmann::ordered_json& quantizer, const Ratio& ratio) {
  r.speeds.push_back({{"anchor", anchor},
                      {"configuration", configuration},
                      {"input", input},
                      {"quantizer", quantizer},
                      {"ratio", json_number(ratio.value)},
                      {"low", option_json(ratio.low)},
                      {"high", option_json(ratio.high)}});
}

void compare_input(AbResult& r, std::size_t input, std::size_t anchor_configuration, std::size_t configuration) {
  const auto anchor = points_of(r, input, anchor_configuration);
  const auto test = points_of(r, input, configuration);
  for (const char* metric : {"psnr_y", "psnr_all", "ssim_y"}) {
    const BdResult delta = bjontegaard_delta(curve(anchor, metric), curve(test, metric));
    r.deltas.push_back({{"anchor", anchor_configuration},
                        {"input", input},
                        {"configuration", configuration},
                        {"metric", metric},
                        {"bd_rate_percent", option_json(delta.rate_percent)},
                        {"bd_quality", option_json(delta.quality)},
                        {"why_not", delta.why_not}});
  }
  add_speed(r, anchor_configuration, configuration, input, nullptr, speed_ratio(r, anchor, test));
  for (const AbPoint* a : anchor) {
    for (const AbPoint* t : test) {
      if (a->quantizer != t->quantizer) continue;
      add_speed(r, anchor_configuration, configuration, input, a->quantizer, speed_ratio(r, {a}, {t}));
      if (r.configurations[anchor_configuration].external || r.configurations[configuration].external) continue;
      r.bytes.push_back({{"anchor", anchor_configuration},
                         {"input", input},
                         {"configuration", configuration},
                         {"quantizer", a->quantizer},
                         {"same_settings", a->coding == t->coding},
                         {"identical", a->digest == t->digest}});
    }
  }
}

void compare_with(AbResult& r, std::size_t anchor) {
  std::vector<std::vector<const AbPoint*>> points(r.configurations.size());
  for (const AbPoint& p : r.points) points[p.configuration].push_back(&p);
  for (std::size_t configuration = 0; configuration < points.size(); ++configuration) {
    if (configuration == anchor) continue;
    add_speed(r, anchor, configuration, nullptr, nullptr, speed_ratio(r, points[anchor], points[configuration]));
    for (std::size_t input = 0; input < r.inputs.size(); ++input) compare_input(r, input, anchor, configuration);
  }
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const double median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return {median, sorted.front(), sorted.back()};
}

Ratio ratio_of_points(std::span<const PairedSpeeds> points) {
  constexpr std::size_t kLeastRounds = 3;
  const std::size_t rounds = points.front().anchor.size();
  const auto pairs = static_cast<double>(points.size() * rounds);
  double mean = 0;
  double squares = 0;  // sum of squared deviations from each point's mean
  for (const auto& [anchor, test] : points) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < rounds; ++i) logs.push_back(std::log(test[i] / anchor[i]));
    const double of_point = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(rounds);
    for (const double value : logs) squares += (value - of_point) * (value - of_point);
    mean += of_point / static_cast<double>(points.size());
  }
  Ratio ratio{std::exp(mean), {}, {}};
  if (rounds < kLeastRounds) return ratio;
  const double freedom = pairs - static_cast<double>(points.size());
  const boost::math::students_t distribution(freedom);
  const double reach = boost::math::quantile(distribution, 0.975) * std::sqrt(squares / freedom / pairs);
  ratio.low = std::exp(mean - reach);
  ratio.high = std::exp(mean + reach);
  return ratio;
}

Spread AbResult::frames_per_s(const AbPoint& point) const {
  std::vector<double> values;
  for (const double s : seconds(point)) values.push_back(static_cast<double>(inputs[point.input].frames) / s);
  return spread_of(values);
}

void compare_points(AbResult& r) {
  for (std::size_t anchor = 0; anchor < r.configurations.size(); ++anchor) compare_with(r, anchor);
}

}  // namespace c63::tools
