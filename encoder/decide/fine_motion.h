#pragma once

#include <cstdint>

#include "c63/fine_motion.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/search_window.h"

// The arithmetic of the search in c63/fine_motion.h, for the CPU and GPUs. All of it is in integers.

namespace c63 {

inline constexpr int kMostExactRange = 127;  ///< above it, the search uses a pyramid
inline constexpr int kPyramidSteps = 3;      ///< how often its pictures are halved
inline constexpr int kRefineReach = 2;       ///< samples around each vector of the smaller picture that are tried
inline constexpr int kRefineSide = 2 * kRefineReach + 1;
inline constexpr int kRefineSeeds = 6;
inline constexpr int kSmoothPasses = 3;
inline constexpr int kSmoothCandidates = 10;
inline constexpr int kFractionReach = 3;  ///< quarter samples around the whole vector that are tried
inline constexpr int kFractionSide = 2 * kFractionReach + 1;
inline constexpr int kFractions = kFractionSide * kFractionSide;
inline constexpr int kGradientMargin = 4;  ///< samples around a block that its gradient step uses
/// Samples around a plane that its interpolated planes have. A vector may lead 3/4 samples out of the picture, and the
/// gradient's margin comes on top.
inline constexpr int kHalfMargin = 8;

/// The side of a picture of half the size, a multiple of 8.
[[nodiscard]] C63_HD constexpr int half_side(int side) {
  return ((side + 1) / 2 + kBlockSize - 1) / kBlockSize * kBlockSize;
}
[[nodiscard]] C63_HD constexpr int clamped(int value, int least, int most) {
  return value < least ? least : value > most ? most : value;
}
[[nodiscard]] C63_HD constexpr int magnitude(int value) { return value < 0 ? -value : value; }

/// A place in the block grid of a field, and the part of the picture there.
struct FineBlock {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  [[nodiscard]] C63_HD static constexpr FineBlock at(int column, int row, int side, int plane_width, int plane_height) {
    const int x = column * side;
    const int y = row * side;
    return {x, y, x + side < plane_width ? side : plane_width - x, y + side < plane_height ? side : plane_height - y};
  }
  /// True: the block at this vector, in whole samples, lies in the plane.
  [[nodiscard]] C63_HD constexpr bool is_legal(FineVector v, int plane_width, int plane_height) const {
    return x + v.x >= 0 && y + v.y >= 0 && x + v.x + width <= plane_width && y + v.y + height <= plane_height;
  }
  /// The candidates of the exact search.
  [[nodiscard]] C63_HD constexpr SearchWindow window(int range, int plane_width, int plane_height) const {
    return search_window_at(x, y, width, height, plane_width, plane_height, range);
  }
};

/// The grid of a field's blocks.
struct FineGrid {
  int width = 0;  ///< of the plane
  int height = 0;
  int side = 8;  ///< of blocks

  [[nodiscard]] C63_HD constexpr int columns() const { return (width + side - 1) / side; }
  [[nodiscard]] C63_HD constexpr int rows() const { return (height + side - 1) / side; }
  [[nodiscard]] C63_HD constexpr int blocks() const { return columns() * rows(); }
  [[nodiscard]] C63_HD constexpr FineBlock block(int index) const {
    return FineBlock::at(index % columns(), index / columns(), side, width, height);
  }
};

/// Returns vector `seed` of those that a block tries after the picture was doubled: the vectors of its place in the
/// smaller picture and of the places left, right, above and below, then the zero vector. Moved so that the block stays in
/// the plane and in the range.
[[nodiscard]] C63_HD constexpr FineVector refine_seed(int seed, const FineBlock& block, const FineGrid& grid, const FineGrid& coarse,
                                                      const FineVector* vectors, int range) {
  FineVector v{};
  if (seed < 5) {
    const int column = (block.x + block.width / 2) / (2 * coarse.side) + (seed == 1 ? -1 : seed == 2 ? 1 : 0);
    const int row = (block.y + block.height / 2) / (2 * coarse.side) + (seed == 3 ? -1 : seed == 4 ? 1 : 0);
    v = vectors[clamped(row, 0, coarse.rows() - 1) * coarse.columns() + clamped(column, 0, coarse.columns() - 1)];
  }
  const auto moved = [range](int component, int at, int last) { return clamped(clamped(2 * component, -range, range), -at, last - at); };
  return {static_cast<std::int16_t>(moved(v.x, block.x, grid.width - block.width)),
          static_cast<std::int16_t>(moved(v.y, block.y, grid.height - block.height))};
}

/// Returns vector `index` of the square around a seed.
[[nodiscard]] C63_HD constexpr FineVector refine_candidate(FineVector seed, int index) {
  return {static_cast<std::int16_t>(seed.x + index % kRefineSide - kRefineReach),
          static_cast<std::int16_t>(seed.y + index / kRefineSide - kRefineReach)};
}
[[nodiscard]] C63_HD constexpr bool is_in_range(FineVector v, int range) {
  return magnitude(v.x) <= range && magnitude(v.y) <= range;
}

/// Returns candidate `index` of a pass of smoothing: the block's own vector, its neighbours' in raster order, the zero vector.
/// A neighbour outside the grid is the block itself.
[[nodiscard]] C63_HD constexpr FineVector smooth_candidate(int index, int column, int row, const FineGrid& grid, const FineVector* vectors) {
  if (index == kSmoothCandidates - 1) return {};
  const int place = index == 0 ? 4 : index <= 4 ? index - 1 : index;
  const int x = column + place % 3 - 1;
  const int y = row + place / 3 - 1;
  const bool inside = x >= 0 && y >= 0 && x < grid.columns() && y < grid.rows();
  return inside ? vectors[y * grid.columns() + x] : vectors[row * grid.columns() + column];
}

/// Returns the sum of the distances between a vector and those of the four nearest neighbours.
[[nodiscard]] C63_HD constexpr int smooth_distance(FineVector v, int column, int row, const FineGrid& grid, const FineVector* vectors) {
  constexpr int kMost = 16;
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    const int x = column + (i == 0 ? -1 : i == 1 ? 1 : 0);
    const int y = row + (i == 2 ? -1 : i == 3 ? 1 : 0);
    if (x < 0 || y < 0 || x >= grid.columns() || y >= grid.rows()) continue;
    const FineVector other = vectors[y * grid.columns() + x];
    const int distance = magnitude(v.x - other.x) + magnitude(v.y - other.y);
    sum += distance < kMost ? distance : kMost;
  }
  return sum;
}

/// H.264's filter for half samples: the value between c and d, times 32.
[[nodiscard]] C63_HD constexpr int six_taps(int a, int b, int c, int d, int e, int f) { return a - 5 * (b + e) + 20 * (c + d) + f; }
[[nodiscard]] C63_HD constexpr std::uint8_t rounded_sample(int value, int bits) {
  return static_cast<std::uint8_t>(clamped((value + (1 << (bits - 1))) >> bits, 0, 255));
}

/// A sample of an interpolated plane. Plane 0 has the whole samples, plane 1 those half a sample to the right, plane 2
/// half a sample down, plane 3 both.
struct HalfPoint {
  int plane = 0;
  int x = 0;
  int y = 0;
};
/// Returns one of the two points whose mean is the sample at (x, y), in quarter samples. They are equal for whole and half
/// samples. Between four points, they are the two that are half samples on one axis.
[[nodiscard]] C63_HD constexpr HalfPoint quarter_point(int x, int y, bool second) {
  const int odd_x = x & 1;
  const int odd_y = y & 1;
  const int lean = odd_x != 0 && odd_y != 0 && ((x ^ y) & 2) == 0 ? 1 : -1;
  const int sign = second ? -1 : 1;
  const int at_x = x + sign * lean * odd_x;
  const int at_y = y - sign * odd_y;
  return {(at_x >> 1 & 1) | (at_y & 2), at_x >> 2, at_y >> 2};
}
[[nodiscard]] C63_HD constexpr int mean_sample(int a, int b) { return (a + b + 1) >> 1; }

/// Returns a key that orders the fractions around a whole vector; x and y are in quarter samples.
[[nodiscard]] C63_HD constexpr std::uint32_t fraction_key(std::uint32_t sad, int x, int y) {
  return sad << 9 | static_cast<std::uint32_t>((magnitude(x) + magnitude(y)) << 6) |
         static_cast<std::uint32_t>((y + kFractionReach) * kFractionSide + x + kFractionReach);
}
/// Returns the vector of a key, around a vector in whole samples.
[[nodiscard]] C63_HD constexpr FineVector fraction_of_key(std::uint32_t key, FineVector whole) {
  const int index = static_cast<int>(key & 63);
  return {static_cast<std::int16_t>(whole.x * kFineUnits + (index % kFractionSide - kFractionReach) * (kFineUnits / 4)),
          static_cast<std::int16_t>(whole.y * kFineUnits + (index / kFractionSide - kFractionReach) * (kFineUnits / 4))};
}

/// The sums of a gradient step.
struct GradientSums {
  std::int32_t xx = 0;
  std::int32_t xy = 0;
  std::int32_t yy = 0;
  std::int32_t xt = 0;
  std::int32_t yt = 0;

  /// Adds a sample: the differences of its neighbours to the right and left, and below and above, and its own to its
  /// prediction.
  C63_HD constexpr void add(int x, int y, int t) {
    xx += x * x;
    xy += x * y;
    yy += y * y;
    xt += x * t;
    yt += y * t;
  }
};
/// The samples that a block's gradient step uses: those that have neighbours.
[[nodiscard]] C63_HD constexpr SearchWindow gradient_window(const FineBlock& block, int plane_width, int plane_height) {
  return {clamped(block.x - kGradientMargin, 1, plane_width - 1), clamped(block.y - kGradientMargin, 1, plane_height - 1),
          clamped(block.x + block.width + kGradientMargin, 1, plane_width - 1),
          clamped(block.y + block.height + kGradientMargin, 1, plane_height - 1)};
}
/// Returns the vector after the step.
[[nodiscard]] C63_HD constexpr FineVector gradient_step(const GradientSums& sums, FineVector v) {
  constexpr int kDamping = 128;  // of flat blocks, where noise would decide
  constexpr int kMost = kFineUnits / 4;
  const std::int64_t xx = sums.xx + kDamping;
  const std::int64_t yy = sums.yy + kDamping;
  const std::int64_t divisor = xx * yy - std::int64_t{sums.xy} * sums.xy;
  const auto step = [divisor](std::int64_t value) {
    // Differences are those of samples two apart, so the step is twice the quotient.
    const std::int64_t doubled = 2 * (2 * kFineUnits * value);
    const std::int64_t rounded = (doubled + (value < 0 ? -divisor : divisor)) / (2 * divisor);
    return static_cast<int>(rounded < -kMost ? -kMost : rounded > kMost ? kMost : rounded);
  };
  return {static_cast<std::int16_t>(v.x + step(yy * sums.xt - std::int64_t{sums.xy} * sums.yt)),
          static_cast<std::int16_t>(v.y + step(xx * sums.yt - std::int64_t{sums.xy} * sums.xt))};
}

/// Returns 1 if the 8x8 block (column, row) points to a block whose vector leads back.
[[nodiscard]] C63_HD constexpr std::uint8_t vectors_agree(int column, int row, const FineGrid& grid, const FineVector* forward,
                                                          const FineVector* backward, int most) {
  constexpr int kBlockUnits = kBlockSize * kFineUnits;
  const FineVector v = forward[row * grid.columns() + column];
  const auto place = [](int own, int moved, int count) {
    const int middle = own * kBlockUnits + kBlockUnits / 2 + moved;
    return middle < 0 ? 0 : clamped(middle / kBlockUnits, 0, count - 1);
  };
  const FineVector back = backward[place(row, v.y, grid.rows()) * grid.columns() + place(column, v.x, grid.columns())];
  return magnitude(v.x + back.x) <= most && magnitude(v.y + back.y) <= most ? 1 : 0;
}

}  // namespace c63
