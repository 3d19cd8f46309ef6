#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "c63/picture.h"
#include "codec/search_window.h"

// The inputs and results of kernels.

namespace c63::cpu {

/// The best candidate of a block: its position in the reference plane, and its SAD.
struct BestCandidate {
  int x = 0;
  int y = 0;
  std::uint32_t sad = 0;
};

/// A candidate: the position of a block in the reference plane.
struct Position {
  int x = 0;
  int y = 0;
};

/// A block to search: its samples, the reference, and the window of candidates, which is not empty.
struct BlockSearch {
  const std::uint8_t* current = nullptr;
  std::ptrdiff_t current_pitch = 0;
  ConstPlaneView reference;
  SearchWindow window;
};

/// Number of candidates with which a search begins.
inline constexpr std::size_t kStarts = 4;

/// One block to search, and candidates of its window with which to begin. They only save time.
struct StartedSearch : BlockSearch {
  std::array<Position, kStarts> starts{};
};

/// The sum of the 4x4 samples at and below-right of every position of a plane, divided by four, modulo 256. Entry (x, y)
/// is at data[y·pitch + x], for x <= width-4 and y <= height-4. Entries outside are readable, but undefined. The distance
/// of two entries around the circle of 256 is at most the difference of the sums divided by four, apart from rounding. So
/// a byte bounds a SAD almost as well as the sum itself.
struct QuarterSumsView {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch = 0;

  [[nodiscard]] const std::uint8_t* at(int x, int y) const { return data + y * pitch + x; }
};
[[nodiscard]] constexpr std::uint8_t quarter_sum(int sum) { return static_cast<std::uint8_t>(sum >> 2); }

/// The limit for candidates by quarter sums. If a candidate costs at most `limit`, its four differences of quarter sums
/// plus a quarter of its cost are at most this value. A sum above 255 counts as 255. Each of the four may be too large
/// by three, times four.
[[nodiscard]] constexpr std::uint8_t quarter_limit(int limit) {
  const int quarter = (limit + 4 * 3) / 4;
  return static_cast<std::uint8_t>(quarter < 255 ? quarter : 255);
}
/// The limit that rules no candidate out.
inline constexpr int kNoQuarterLimit = 255;

/// The samples that predict one 8x8 block.
struct BlockPrediction {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;  ///< 0: no prediction, and `samples` is one row of zeros
};

}  // namespace c63::cpu
