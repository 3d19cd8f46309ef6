#include "c63/bd_rate.h"

#include <math.h>  // Boost 1.74's pchip names isnan without std::

#include <algorithm>
#include <boost/math/interpolators/pchip.hpp>
#include <cmath>
#include <utility>
#include <vector>

namespace c63 {
namespace {

/// The points between which a curve is interpolated. x is strictly increasing.
struct Curve {
  std::vector<double> x;
  std::vector<double> y;
};

/// Returns the slope at an end point of a curve, from the widths and slopes of the two intervals nearest to it. It is
/// the slope of the parabola through the three points, limited so that the curve does not overshoot. By itself, Boost
/// would take the slope of the nearest interval, but the published tools do not.
double end_slope(double near_width, double far_width, double near_slope, double far_slope) {
  const double slope = ((2 * near_width + far_width) * near_slope - near_width * far_slope) / (near_width + far_width);
  if (slope * near_slope <= 0) return 0;
  if (near_slope * far_slope <= 0 && std::abs(slope) > 3 * std::abs(near_slope)) return 3 * near_slope;
  return slope;
}

auto interpolate(const Curve& c) {
  const auto n = c.x.size();
  const auto width = [&](std::size_t i) { return c.x[i + 1] - c.x[i]; };
  const auto slope = [&](std::size_t i) { return (c.y[i + 1] - c.y[i]) / width(i); };
  const double left = end_slope(width(0), width(1), slope(0), slope(1));
  const double right = end_slope(width(n - 2), width(n - 3), slope(n - 2), slope(n - 3));
  return boost::math::interpolators::pchip<std::vector<double>>(std::vector(c.x), std::vector(c.y), left, right);
}

/// Returns the mean of the curve over [low, high]. Between two of its points, the curve is a cubic, for which Simpson's
/// rule is exact.
double mean(const Curve& curve, double low, double high) {
  const auto f = interpolate(curve);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < curve.x.size(); ++i) {
    const double a = std::max(low, curve.x[i]);
    const double b = std::min(high, curve.x[i + 1]);
    if (b > a) sum += (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b));
  }
  return sum / (high - low);
}

/// Returns the mean of `test` minus the mean of `anchor` over the range that both cover; empty if they share none.
std::optional<double> mean_distance(const Curve& anchor, const Curve& test) {
  const double low = std::max(anchor.x.front(), test.x.front());
  const double high = std::min(anchor.x.back(), test.x.back());
  if (!(low < high)) return std::nullopt;
  return mean(test, low, high) - mean(anchor, low, high);
}

std::string fault_of(std::span<const RdPoint> points) {
  if (points.size() < 4) return "fewer than four points";
  for (const RdPoint& p : points) {
    if (!(p.rate > 0) || !std::isfinite(p.rate) || !std::isfinite(p.quality)) return "a point without a finite rate and quality";
  }
  return {};
}

/// Sorts by rate. Returns false if quality does not rise with the rate.
bool sort_by_rate(std::vector<RdPoint>& points) {
  std::sort(points.begin(), points.end(), [](const RdPoint& a, const RdPoint& b) { return a.rate < b.rate; });
  return std::adjacent_find(points.begin(), points.end(), [](const RdPoint& a, const RdPoint& b) {
           return a.rate >= b.rate || a.quality >= b.quality;
         }) == points.end();
}

Curve quality_over_log_rate(const std::vector<RdPoint>& points) {
  Curve curve;
  for (const RdPoint& p : points) {
    curve.x.push_back(std::log10(p.rate));
    curve.y.push_back(p.quality);
  }
  return curve;
}

}  // namespace

BdResult bjontegaard_delta(std::span<const RdPoint> anchor, std::span<const RdPoint> test) {
  for (const auto& points : {anchor, test}) {
    if (std::string fault = fault_of(points); !fault.empty()) return {{}, {}, std::move(fault)};
  }
  std::vector<RdPoint> a(anchor.begin(), anchor.end());
  std::vector<RdPoint> t(test.begin(), test.end());
  if (!sort_by_rate(a) || !sort_by_rate(t)) return {{}, {}, "quality does not rise with the rate"};
  Curve qa = quality_over_log_rate(a);
  Curve qt = quality_over_log_rate(t);
  BdResult result;
  result.quality = mean_distance(qa, qt);
  std::swap(qa.x, qa.y);
  std::swap(qt.x, qt.y);
  if (const auto distance = mean_distance(qa, qt)) result.rate_percent = (std::pow(10.0, *distance) - 1) * 100;
  if (!result.rate_percent || !result.quality) result.why_not = "no overlap";
  return result;
}

}  // namespace c63
