#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "c63/picture.h"
#include "codec/search_window.h"

// The types of inputs and results that kernels.h and decision_kernels.h use.

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

/// One block to search, and candidates of its window with which to begin. These do not change the result, only the
/// time.
struct StartedSearch : BlockSearch {
  std::array<Position, kStarts> starts{};
};

/// Sums of 4x4 samples, one for every position of a plane. A sum is divided by four and stored modulo 256. Entry (x, y)
/// is at data[y·pitch + x], and its 4x4 samples begin at (x, y). So x is at most width - 4, and y is at most height -
/// 4. Other entries are readable, but undefined. The distance of two entries, counted modulo 256, is at most a quarter
/// of the difference of their sums, apart from rounding. So these bytes give bounds of SADs that are almost as good as
/// those of the sums themselves.
struct QuarterSumsView {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch = 0;

  [[nodiscard]] const std::uint8_t* at(int x, int y) const { return data + y * pitch + x; }
};
[[nodiscard]] constexpr std::uint8_t quarter_sum(int sum) { return static_cast<std::uint8_t>(sum >> 2); }

/// Returns the largest bound that a candidate of at most this cost can have. The bound is the sum of its four
/// differences of quarter sums and a quarter of its vector's cost; a sum above 255 counts as 255. Rounding may make
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
