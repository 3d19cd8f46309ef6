#include "compare/ab_statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

namespace c63::tools {

Spread spread_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const double median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return {median, sorted.front(), sorted.back()};
}

Ratio ratio_of_pairs(std::span<const double> anchor, std::span<const double> test) {
  const std::size_t n = std::min(anchor.size(), test.size());
  std::vector<double> logs;
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    logs.push_back(std::log(test[i] / anchor[i]));
    mean += logs.back() / static_cast<double>(n);
  }
  Ratio ratio{std::exp(mean), {}, {}};
  if (n < 2) return ratio;
  double squares = 0;
  for (const double value : logs) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  const boost::math::students_t distribution(static_cast<double>(n - 1));
  const double reach = boost::math::quantile(distribution, 0.975) * error;
  ratio.low = std::exp(mean - reach);
  ratio.high = std::exp(mean + reach);
  return ratio;
}

}  // namespace c63::tools
