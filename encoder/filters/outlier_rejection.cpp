// In the history of each sample position, replaces values that are far from their median over time. The fast form takes
// a piece of a row from all frames. A sorting network sorts the values of each position. Each exchange of the network
// is done for all positions of the piece at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "c63/thread_pool.h"
#include "filters/clones.h"

namespace c63 {
namespace {

constexpr std::size_t kSamplesAtOnce = 256;

/// Returns Batcher's merge exchange: the pairs to compare and exchange, in order, to sort any `count` values (Knuth,
/// 5.2.2, Algorithm M).
std::vector<std::pair<std::size_t, std::size_t>> sorting_network(std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (count < 2) return pairs;
  std::size_t top = 1;
  while (2 * top < count) top *= 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t q = top;
    std::size_t r = 0;
    std::size_t d = p;
    while (true) {
      for (std::size_t i = 0; i + d < count; ++i) {
        if ((i & p) == r) pairs.emplace_back(i, i + d);
      }
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
  return pairs;
}

C63_CLONES void exchange(std::uint8_t* __restrict low, std::uint8_t* __restrict high) {
  for (std::size_t i = 0; i < kSamplesAtOnce; ++i) {
    const std::uint8_t a = low[i], b = high[i];
    low[i] = a < b ? a : b;
    high[i] = a < b ? b : a;
  }
}
C63_CLONES void exchange(float* __restrict low, float* __restrict high) {
  for (std::size_t i = 0; i < kSamplesAtOnce; ++i) {
    const float a = low[i], b = high[i];
    low[i] = a < b ? a : b;
    high[i] = a < b ? b : a;
  }
}
C63_CLONES void distance(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* __restrict out) {
  for (std::size_t i = 0; i < kSamplesAtOnce; ++i) out[i] = static_cast<std::uint8_t>(a[i] < b[i] ? b[i] - a[i] : a[i] - b[i]);
}
C63_CLONES void distance(const float* a, const float* b, float* __restrict out) {
  for (std::size_t i = 0; i < kSamplesAtOnce; ++i) out[i] = std::abs(a[i] - b[i]);
}

/// Returns the largest distance from the median at which a sample is kept. `deviation` is the median of all distances
/// from the median.
template <typename Sample>
float limit_for(Sample deviation, float threshold) {
  return threshold * std::max(1.4826F * static_cast<float>(deviation), static_cast<float>(kMinDeviation));
}

template <typename Sample>
void reject_piece(std::span<const BasicPlaneView<const Sample>> history, float threshold,
                  std::span<const BasicPlaneView<Sample>> out,
                  std::span<const std::pair<std::size_t, std::size_t>> network, int y, std::size_t x,
                  std::size_t count, std::vector<Sample>& values) {
  const std::size_t n = history.size();
  const std::size_t middle = (n - 1) / 2;
  const auto sort = [&] {
    for (const auto& [low, high] : network) exchange(&values[low * kSamplesAtOnce], &values[high * kSamplesAtOnce]);
  };
  for (std::size_t k = 0; k < n; ++k) {
    std::copy_n(history[k].row(y) + x, count, &values[k * kSamplesAtOnce]);
    std::fill_n(&values[k * kSamplesAtOnce] + count, kSamplesAtOnce - count, Sample{});
  }
  sort();
  std::array<Sample, kSamplesAtOnce> median;
  std::copy_n(&values[middle * kSamplesAtOnce], kSamplesAtOnce, median.data());
  std::array<Sample, kSamplesAtOnce> sample{};
  for (std::size_t k = 0; k < n; ++k) {
    std::copy_n(history[k].row(y) + x, count, sample.data());
    distance(sample.data(), median.data(), &values[k * kSamplesAtOnce]);
  }
  sort();
  std::array<float, kSamplesAtOnce> limit;
  for (std::size_t i = 0; i < count; ++i) limit[i] = limit_for(values[middle * kSamplesAtOnce + i], threshold);
  for (std::size_t k = 0; k < n; ++k) {
    const Sample* from = history[k].row(y) + x;
    Sample* to = out[k].row(y) + x;
    for (std::size_t i = 0; i < count; ++i) {
      const auto away = static_cast<float>(std::abs(from[i] - median[i]));
      to[i] = away > limit[i] ? median[i] : from[i];
    }
  }
}

template <typename Sample>
void reject_serial(std::span<const BasicPlaneView<const Sample>> history, float threshold,
                   std::span<const BasicPlaneView<Sample>> out) {
  const auto median_of = [](std::vector<Sample>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
  };
  std::vector<Sample> values(history.size());
  for (int y = 0; y < history[0].height; ++y) {
    for (int x = 0; x < history[0].width; ++x) {
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = history[k].at(x, y);
      const Sample median = median_of(values);
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<Sample>(std::abs(history[k].at(x, y) - median));
      }
      const float limit = limit_for(median_of(values), threshold);
      for (std::size_t k = 0; k < values.size(); ++k) {
        const Sample sample = history[k].at(x, y);
        out[k].at(x, y) = static_cast<float>(std::abs(sample - median)) > limit ? median : sample;
      }
    }
  }
}

}  // namespace

template <typename Sample>
void reject_outliers(std::span<const BasicPlaneView<const Sample>> history, double threshold,
                     std::span<const BasicPlaneView<Sample>> out, FilterForm form) {
  WhiteningSettings settings;
  settings.reject = threshold;
  check_whitening(settings);
  require(!history.empty(), "C63-WHITEN-SETTING", "a history of 0 frames");
  check_history(history[0], history);
  check_same_length(history.size(), "the history", out.size(), "the output");
  for (const auto& view : out) {
    check_same_shape(history[0], "the history", view, "the output");
    for (const auto& past : history) check_apart(past, view);
  }
  const auto limit = static_cast<float>(threshold);
  if (form == FilterForm::serial) return reject_serial(history, limit, out);
  const auto network = sorting_network(history.size());
  const auto width = static_cast<std::size_t>(history[0].width);
  parallel_ranges(static_cast<std::size_t>(history[0].height), 1 + 4096 / (width + 1),
                  [&](std::size_t begin, std::size_t end) {
                    std::vector<Sample> values(history.size() * kSamplesAtOnce);
                    for (std::size_t y = begin; y < end; ++y) {
                      for (std::size_t x = 0; x < width; x += kSamplesAtOnce) {
                        reject_piece(history, limit, out, std::span(network), static_cast<int>(y), x,
                                     std::min(kSamplesAtOnce, width - x), values);
                      }
                    }
                  });
}

#define C63_INSTANTIATE(Sample)                                                                \
  template void reject_outliers<Sample>(std::span<const BasicPlaneView<const Sample>>, double, \
                                        std::span<const BasicPlaneView<Sample>>, FilterForm);
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(float)
#undef C63_INSTANTIATE

}  // namespace c63
