#pragma once

#include <optional>
#include <span>
#include <vector>

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

/// How many times as fast, with the 95 % confidence interval if there are three rounds at least.
struct Ratio {
  double value = 1;
  std::optional<double> low;
  std::optional<double> high;
};

/// Speeds of two sides at one point; entries of one index were measured next to each other, in one round.
struct PairedSpeeds {
  std::vector<double> anchor;
  std::vector<double> test;
};

/// Geometric mean of test / anchor over the points and their rounds; at least one point, and of each the same number of
/// rounds. The interval is Student's t on the logarithms; points may have different ratios, so their deviations from their own
/// means are pooled.
[[nodiscard]] Ratio ratio_of_points(std::span<const PairedSpeeds> points);

}  // namespace c63::tools
