#pragma once

#include <optional>
#include <span>

namespace c63::tools {

/// Middle and ends of repeated measurements.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Distance of the ends as a share of the median.
  [[nodiscard]] double relative() const { return median > 0 ? (high - low) / median : 0; }
};

/// Of at least one value; the median of an even number is the mean of the two in the middle.
[[nodiscard]] Spread spread_of(std::span<const double> values);

/// How many times as fast, with the 95 % confidence interval where there are two pairs at least.
struct Ratio {
  double value = 1;
  std::optional<double> low;
  std::optional<double> high;
};

/// Geometric mean of test[i] / anchor[i], pairs measured next to each other; Student's t on their logarithms.
[[nodiscard]] Ratio ratio_of_pairs(std::span<const double> anchor, std::span<const double> test);

}  // namespace c63::tools
