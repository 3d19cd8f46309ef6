// Histogram of bytes, and scene cuts that it shows. The fast form has sixteen tables of counters, one for each of
// sixteen neighbouring bytes. So equal neighbours are counted in different tables, and no count waits for another. The
// sixteen counters of a value lie next to each other, in 64 bytes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "c63/thread_pool.h"

namespace c63 {
namespace {

using Counts = std::array<std::uint64_t, 256>;

/// Adds to `counts` how often each value occurs.
void count_values(const std::uint8_t* bytes, std::size_t count, Counts& counts) {
  constexpr std::size_t kMostCounted = std::size_t{1} << 30;  // so that a 32-bit counter cannot overflow
  for (std::size_t start = 0; start < count; start += kMostCounted) {
    const std::size_t end = std::min(start + kMostCounted, count);
    std::array<std::array<std::uint32_t, 16>, 256> tables{};
    std::size_t i = start;
    for (; i + 16 <= end; i += 16) {
      std::array<std::uint64_t, 2> words;
      std::memcpy(words.data(), bytes + i, 16);
#pragma GCC unroll 16
      for (std::size_t k = 0; k < 16; ++k) ++tables[words[k / 8] >> (8 * (k % 8)) & 255][k];
    }
    for (; i < end; ++i) ++tables[bytes[i]][0];
    for (std::size_t v = 0; v < 256; ++v) {
      for (const std::uint32_t part : tables[v]) counts[v] += part;
    }
  }
}

/// Fills `counts` with the histogram of `items` items. An item is a byte or a row of bytes. Calls count(begin, end,
/// table) for ranges of items on several threads. count() must add to `table` how often each byte value occurs in these
/// items.
template <typename Count>
void gather(std::size_t items, std::size_t grain, const BinMap& map, std::span<std::uint64_t> counts,
            const Count& count) {
  Counts values{};
  std::mutex mutex;
  parallel_ranges(items, grain, [&](std::size_t begin, std::size_t end) {
    Counts mine{};
    count(begin, end, mine);
    const std::scoped_lock lock(mutex);
    for (std::size_t v = 0; v < 256; ++v) values[v] += mine[v];
  });
  std::ranges::fill(counts, std::uint64_t{0});
  for (std::size_t v = 0; v < 256; ++v) counts[map.bin[v]] += values[v];
}

}  // namespace

BinMap BinMap::identity() {
  BinMap map;
  map.bins = 256;
  for (std::size_t v = 0; v < 256; ++v) map.bin[v] = static_cast<std::uint8_t>(v);
  return map;
}

void check_bin_map(const BinMap& map, std::size_t counts) {
  require(map.bins >= 1 && map.bins <= 256, "C63-BIN-MAP",
          "a histogram of " + std::to_string(map.bins) + " bins: the number must be 1 to 256");
  for (std::size_t v = 0; v < 256; ++v) {
    require(map.bin[v] < map.bins, "C63-BIN-MAP",
            "value " + std::to_string(v) + " is mapped to bin " + std::to_string(map.bin[v]) + " of " +
                std::to_string(map.bins));
  }
  check_same_length(static_cast<std::size_t>(map.bins), "the bin map", counts, "the counts");
}

void histogram(std::span<const std::uint8_t> bytes, const BinMap& map, std::span<std::uint64_t> counts,
               FilterForm form) {
  check_bin_map(map, counts.size());
  if (form == FilterForm::serial) {
    std::ranges::fill(counts, std::uint64_t{0});
    for (const std::uint8_t value : bytes) ++counts[map.bin[value]];
    return;
  }
  gather(bytes.size(), std::size_t{1} << 18, map, counts, [&](std::size_t begin, std::size_t end, Counts& mine) {
    count_values(bytes.data() + begin, end - begin, mine);
  });
}

void histogram(ConstPlaneView picture, const BinMap& map, std::span<std::uint64_t> counts, FilterForm form) {
  check_bin_map(map, counts.size());
  check_view(picture, "the picture");
  const auto width = static_cast<std::size_t>(picture.width);
  const auto height = static_cast<std::size_t>(picture.height);
  if (picture.pitch == picture.width) {
    return histogram(std::span(picture.data, width * height), map, counts, form);
  }
  if (form == FilterForm::serial) {
    std::ranges::fill(counts, std::uint64_t{0});
    for (int y = 0; y < picture.height; ++y) {
      for (int x = 0; x < picture.width; ++x) ++counts[map.bin[picture.at(x, y)]];
    }
    return;
  }
  gather(height, 1 + (std::size_t{1} << 18) / (width + 1), map, counts,
         [&](std::size_t begin, std::size_t end, Counts& mine) {
           for (std::size_t y = begin; y < end; ++y) count_values(picture.row(static_cast<int>(y)), width, mine);
         });
}

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
