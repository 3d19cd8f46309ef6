#pragma once

#include <optional>
#include <span>
#include <vector>

namespace c63::tools {

/// Median and both ends of repeated measurements.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Distance of the ends as a share of the median.
  [[nodiscard]] double relative() const { return median > 0 ? (high - low) / median : 0; }
};

/// Needs at least one value. The median of an even number is the mean of the two in the middle.
[[nodiscard]] Spread spread_of(std::span<const double> values);

/// How many times as fast, with the 95 % confidence interval if there are at least three rounds.
struct Ratio {
  double value = 1;
  std::optional<double> low;
  std::optional<double> high;
};

/// Speeds of two sides at one point. Entries with the same index were measured next to each other, in one round.
struct PairedSpeeds {
  std::vector<double> anchor;
  std::vector<double> test;
};

/// Geometric mean of test / anchor over points and rounds. Needs at least one point, and the same number of rounds for
/// each. The interval is Student's t on the logarithms. Points may have different ratios, so their deviations from
/// their own means are pooled.
[[nodiscard]] Ratio ratio_of_points(std::span<const PairedSpeeds> points);

}  // namespace c63::tools
