#include "compare/ab_statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace c63::tools {

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

}  // namespace c63::tools
