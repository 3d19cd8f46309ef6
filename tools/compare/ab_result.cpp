#include "compare/ab_result.h"

#include <utility>

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

/// Frames per second of each round over several points: those that have the round, if a stop left some with fewer.
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

void compare_input(AbResult& r, std::size_t input, std::size_t configuration) {
  const auto anchor = points_of(r, input, 0);
  const auto test = points_of(r, input, configuration);
  for (const char* metric : {"psnr_y", "psnr_all", "ssim_y"}) {
    r.deltas.push_back({input, configuration, metric, bjontegaard_delta(curve(anchor, metric), curve(test, metric))});
  }
  r.speeds.push_back({configuration, input, {}, ratio_of_pairs(speed_by_round(r, anchor), speed_by_round(r, test))});
  for (const AbPoint* a : anchor) {
    for (const AbPoint* t : test) {
      if (a->quantizer != t->quantizer) continue;
      r.speeds.push_back(
          {configuration, input, a->quantizer, ratio_of_pairs(speed_by_round(r, {a}), speed_by_round(r, {t}))});
      const bool same_format = !r.configurations[0].external && !r.configurations[configuration].external;
      if (same_format) r.bytes.push_back({input, configuration, a->quantizer, a->digest == t->digest});
    }
  }
}

}  // namespace

Spread AbResult::frames_per_s(const AbPoint& point) const {
  std::vector<double> values;
  for (const double s : seconds(point)) values.push_back(static_cast<double>(inputs[point.input].frames) / s);
  return spread_of(values);
}

void compare_points(AbResult& r) {
  for (std::size_t configuration = 1; configuration < r.configurations.size(); ++configuration) {
    std::vector<const AbPoint*> anchor;
    std::vector<const AbPoint*> test;
    for (const AbPoint& p : r.points) {
      if (p.configuration == 0) anchor.push_back(&p);
      if (p.configuration == configuration) test.push_back(&p);
    }
    r.speeds.push_back({configuration, {}, {}, ratio_of_pairs(speed_by_round(r, anchor), speed_by_round(r, test))});
    for (std::size_t input = 0; input < r.inputs.size(); ++input) compare_input(r, input, configuration);
  }
}

}  // namespace c63::tools
