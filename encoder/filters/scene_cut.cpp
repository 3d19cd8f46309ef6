// Finds scene cuts from histograms.
#include <cmath>
#include <numeric>

#include "c63/filter_checks.h"
#include "c63/filters.h"

namespace c63 {

double histogram_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  check_same_length(a.size(), "one histogram", b.size(), "the other");
  const auto total_a = static_cast<double>(std::accumulate(a.begin(), a.end(), std::uint64_t{0}));
  const auto total_b = static_cast<double>(std::accumulate(b.begin(), b.end(), std::uint64_t{0}));
  if (total_a == 0 || total_b == 0) return 0;
  double distance = 0;
  for (std::size_t bin = 0; bin < a.size(); ++bin) {
    distance += std::abs(static_cast<double>(a[bin]) / total_a - static_cast<double>(b[bin]) / total_b);
  }
  return distance / 2;
}

bool is_scene_cut(std::span<const std::uint64_t> before, std::span<const std::uint64_t> after, double distance) {
  return histogram_distance(before, after) > distance;
}

}  // namespace c63
