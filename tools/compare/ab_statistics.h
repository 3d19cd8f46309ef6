#pragma once

#include <optional>
#include <span>
#include <vector>

namespace c63::tools {

/// Median, smallest and largest of repeated measurements.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Returns high - low as a share of the median.
  [[nodiscard]] double relative() const { return median > 0 ? (high - low) / median : 0; }
};

/// Needs at least one value. For an even number of values, the median is the mean of the middle two.
[[nodiscard]] Spread spread_of(std::span<const double> values);

/// How many times as fast as the anchor a side is, with the 95 % confidence interval if there are at least three
/// rounds.
struct Ratio {
  double value = 1;
  std::optional<double> low;
  std::optional<double> high;
};

/// Speeds of two sides at one point. Entries with the same index are from the same round.
struct PairedSpeeds {
  std::vector<double> anchor;
  std::vector<double> test;
};

/// Returns the geometric mean of test / anchor over all points and rounds. Needs at least one point, and equally many
/// rounds for each. The interval is Student's t on the logarithms. Points may have different ratios, so deviations are
/// taken from each point's own mean and then pooled.
[[nodiscard]] Ratio ratio_of_points(std::span<const PairedSpeeds> points);

}  // namespace c63::tools
