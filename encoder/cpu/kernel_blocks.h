#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "c63/picture.h"
#include "codec/search_window.h"
#include "decide/vectors.h"

// The types of inputs and results that kernels.h and decision_kernels.h use.

namespace c63::cpu {

/// A candidate: the position of a block in the reference plane.
struct Position {
  int x = 0;
  int y = 0;
};

/// Number of candidates with which a search begins.
inline constexpr std::size_t kStarts = 4;

/// A block to search.
struct BlockSearch {
  /// The candidates; there is at least one.
  SearchWindow window;
  Position own;  ///< position of the block in its plane
  const std::uint8_t* current = nullptr;
  std::ptrdiff_t current_pitch = 0;
  ConstPlaneView reference;
  /// Candidates of the window with which to begin. In an exhaustive search they change only the time.
  std::array<Position, kStarts> starts{};
  std::uint32_t* keys = nullptr;  ///< where the result is written

  [[nodiscard]] int width() const { return window.right - window.left; }
  /// Returns the number of a candidate in the raster order of the window.
  [[nodiscard]] std::uint32_t index_of(int x, int y) const {
    return static_cast<std::uint32_t>((y - window.top) * width() + x - window.left);
  }
  /// Stands for the zero vector's candidate if it is outside the window. Numbers of the window's candidates are lower.
  static constexpr std::uint32_t kOwnIndex = 0xFFFF;
  /// Returns the position of the candidate of a key (candidate_key()).
  [[nodiscard]] Position candidate_of(std::uint32_t key) const {
    const std::uint32_t index = key & 0xFFFF;
    if (index == kOwnIndex) return own;
    const auto columns = static_cast<std::uint32_t>(width());
    // Most windows have a power of two as width. Then no slow division is needed.
    const bool fast = (columns & (columns - 1)) == 0;  // std::has_single_bit() would call a function
    const std::uint32_t y = fast ? index >> std::countr_zero(columns) : index / columns;
    return {window.left + static_cast<int>(index - y * columns), window.top + static_cast<int>(y)};
  }
};

/// The cost of vectors in a search, one component at a time, in the forms that kernels read. Entry `component + kZero`
/// of an array is for a value of the component, -128..127. Kernels may read kGuard entries after the last one.
class SearchCosts {
 public:
  static constexpr std::size_t kZero = 128;
  static constexpr std::size_t kGuard = 64;
  static constexpr std::size_t kEntries = 2 * kZero + kGuard;

  explicit SearchCosts(const VectorCosts& costs = {}) {
    for (std::size_t i = 0; i < 2 * kZero; ++i) {
      const std::uint16_t cost = costs.components[i];
      words[i] = cost;
      pairs[i] = cost * 0x10001U;
      quarters[i] = static_cast<std::uint8_t>(std::min(cost / 4, 255));
      quarter_fours[i] = quarters[i] * 0x01010101U;
    }
  }

  [[nodiscard]] std::uint32_t of(int x, int y) const { return std::uint32_t{words[entry(x)]} + words[entry(y)]; }
  [[nodiscard]] static std::size_t entry(int component) { return static_cast<std::size_t>(component) + kZero; }

  alignas(64) std::array<std::uint16_t, kEntries> words{};
  alignas(64) std::array<std::uint32_t, kEntries> pairs{};  ///< the cost twice
  /// The cost divided by four, rounded down, at most 255.
  alignas(64) std::array<std::uint8_t, kEntries> quarters{};
  alignas(64) std::array<std::uint32_t, kEntries> quarter_fours{};  ///< `quarters`, each four times
};

/// Sums of 4x4 samples, one for every position of a plane. A sum is divided by four and stored modulo 256. Entry (x, y)
/// is at data[y·pitch + x], and its 4x4 samples begin at (x, y). So x is at most width - 4, and y is at most height -
/// 4. Other entries are readable, but undefined. The distance of two entries, counted modulo 256, is at most a quarter
/// of the difference of their sums, apart from rounding. So these bytes give bounds of SADs that are almost as good as
/// those of the sums themselves.
struct QuarterSumsView {
  const std::uint8_t* data = nullptr;  ///< null: there are no sums, so no candidate is ruled out
  std::ptrdiff_t pitch = 0;

  [[nodiscard]] const std::uint8_t* at(int x, int y) const { return data + y * pitch + x; }
};
[[nodiscard]] constexpr std::uint8_t quarter_sum(int sum) { return static_cast<std::uint8_t>(sum >> 2); }

/// Returns the largest bound that a candidate of at most this cost can have. The bound is the sum of its four
/// differences of quarter sums and the quarters of its vector's cost; a sum above 255 counts as 255. Rounding may make
/// each of the four differences too large by 3/4, so 4·3 is added before the limit is divided by four.
[[nodiscard]] constexpr std::uint8_t quarter_limit(int limit) {
  const int quarter = (limit + 4 * 3) / 4;
  return static_cast<std::uint8_t>(quarter < 255 ? quarter : 255);
}
/// The quarter limit that rules no candidate out.
inline constexpr int kNoQuarterLimit = 255;

/// The samples that predict one 8x8 block.
struct BlockPrediction {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;  ///< 0: no prediction, and `samples` is one row of zeros
};

}  // namespace c63::cpu
