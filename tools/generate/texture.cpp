#include "generate/texture.h"

#include <algorithm>
#include <span>
#include <vector>

#include "generate/integer_math.h"

namespace c63 {
namespace {

/// Noise of values from -4096 to 4095. A picture is divided into cells of 2^log2_cell x 2^log2_cell samples. The
/// corners of cells have random values, and samples between them are smoothly interpolated.
class LatticeNoise {
 public:
  LatticeNoise(std::uint32_t seed, int log2_cell, int log2_side)
      : log2_cell_(log2_cell), log2_cells_(log2_side - log2_cell), upper_(std::size_t{1} << log2_side), lower_(upper_.size()),
        row_(upper_.size()) {
    const std::uint32_t cells = 1U << log2_cells_;
    values_.reserve(std::size_t{cells} * cells);
    for (std::uint32_t y = 0; y < cells; ++y) {
      for (std::uint32_t x = 0; x < cells; ++x) values_.push_back(static_cast<int>(hash(seed, x, y) >> 19) - 4096);
    }
    for (int i = 0; i < 1 << log2_cell; ++i) {
      const int f = (i << 8) >> log2_cell;  // the weight 3f² - 2f³
      smooth_.push_back((f * f * (768 - 2 * f)) >> 16);
    }
  }

  /// Returns row `y` of the noise. It is valid until the next call.
  [[nodiscard]] std::span<const int> row(int y) {
    const int cell = y >> log2_cell_;
    if (cell != cell_) {
      interpolate(cell, upper_);
      interpolate(cell + 1, lower_);
      cell_ = cell;
    }
    const int fy = smooth_[static_cast<std::size_t>(y - (cell << log2_cell_))];
    for (std::size_t x = 0; x < row_.size(); ++x) row_[x] = (upper_[x] * (256 - fy) + lower_[x] * fy) >> 12;
    return row_;
  }

 private:
  [[nodiscard]] int value(int cell_x, int cell_y) const {
    const int mask = (1 << log2_cells_) - 1;
    return values_[static_cast<std::size_t>(cell_y & mask) << log2_cells_ | static_cast<std::size_t>(cell_x & mask)];
  }
  /// Computes the row of samples on the upper edge of row `cell_y` of cells. Interpolates between the values at the
  /// corners of these cells.
  void interpolate(int cell_y, std::vector<int>& samples) const {
    std::size_t x = 0;
    for (int cell_x = 0; cell_x < 1 << log2_cells_; ++cell_x) {
      const int left = value(cell_x, cell_y);
      const int right = value(cell_x + 1, cell_y);
      for (const int fx : smooth_) samples[x++] = (left * (256 - fx) + right * fx) >> 4;
    }
  }

  int log2_cell_;
  int log2_cells_;
  std::vector<int> values_;
  std::vector<int> smooth_;  ///< weights of the right corner, by position in a cell
  int cell_ = -1;            ///< the row of cells between upper_ and lower_
  std::vector<int> upper_;
  std::vector<int> lower_;
  std::vector<int> row_;
};

}  // namespace

Texture::Texture(int log2_side) : log2_side_(log2_side), samples_(std::size_t{1} << (2 * log2_side)) {}

Texture Texture::natural(std::uint32_t seed, int log2_side, int contrast) {
  Texture texture(log2_side);
  const int side = 1 << log2_side;
  // Noise with cells of several sizes, from large to small. Smaller cells have a lower amplitude, as in natural
  // pictures.
  std::vector<LatticeNoise> sizes;
  for (int log2_cell = log2_side - 2; log2_cell >= 1; --log2_cell) {
    sizes.emplace_back(seed + static_cast<std::uint32_t>(log2_cell), log2_cell, log2_side);
  }
  LatticeNoise large_things(seed + 77, log2_side - 3, log2_side);
  LatticeNoise small_things(seed + 78, std::max(log2_side - 5, 1), log2_side);
  std::vector<int> sums(static_cast<std::size_t>(side));
  std::size_t i = 0;
  for (int y = 0; y < side; ++y) {
    std::ranges::fill(sums, 0);
    int weight = 256;
    for (LatticeNoise& noise : sizes) {
      const std::span<const int> row = noise.row(y);
      for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += row[x] * weight >> 8;
      weight = weight * 3 / 4;
    }
    const std::span<const int> large = large_things.row(y);
    const std::span<const int> small = small_things.row(y);
    for (std::size_t x = 0; x < sums.size(); ++x) {
      // Where a second noise exceeds a threshold, the picture is brighter; where it is below another threshold, darker.
      // This gives edges, as between objects.
      const int things = large[x] + small[x] / 3;
      const int edge = things > 900 ? 1500 : things < -1100 ? -1300 : 0;
      texture.samples_[i++] = clamp_sample(128 + ((sums[x] + edge) * contrast >> 13));
    }
  }
  return texture;
}

Texture Texture::checker(int log2_side, int square, int dark, int bright) {
  Texture texture(log2_side);
  const int side = 1 << log2_side;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const bool is_bright = ((x / square) + (y / square)) % 2 != 0;
      texture.samples_[static_cast<std::size_t>(y) << log2_side | static_cast<std::size_t>(x)] =
          static_cast<std::uint8_t>(is_bright ? bright : dark);
    }
  }
  return texture;
}

}  // namespace c63
