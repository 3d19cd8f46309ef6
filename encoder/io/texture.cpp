#include "io/texture.h"

#include <algorithm>
#include <vector>

#include "io/integer_math.h"

namespace c63 {
namespace {

/// Random values on a lattice of cells of 2^log2_cell samples, smoothly interpolated; -4096..4096.
class LatticeNoise {
 public:
  LatticeNoise(std::uint32_t seed, int log2_cell, int log2_side)
      : log2_cell_(log2_cell), log2_cells_(log2_side - log2_cell) {
    const std::uint32_t cells = 1U << log2_cells_;
    values_.reserve(std::size_t{cells} * cells);
    for (std::uint32_t y = 0; y < cells; ++y) {
      for (std::uint32_t x = 0; x < cells; ++x) values_.push_back(static_cast<int>(hash(seed, x, y) >> 19) - 4096);
    }
  }

  [[nodiscard]] int at(int x, int y) const {
    const int x0 = x >> log2_cell_;
    const int y0 = y >> log2_cell_;
    const int fx = smooth(x - (x0 << log2_cell_));
    const int fy = smooth(y - (y0 << log2_cell_));
    const int top = value(x0, y0) * (256 - fx) + value(x0 + 1, y0) * fx;
    const int bottom = value(x0, y0 + 1) * (256 - fx) + value(x0 + 1, y0 + 1) * fx;
    return ((top >> 4) * (256 - fy) + (bottom >> 4) * fy) >> 12;
  }

 private:
  [[nodiscard]] int value(int cell_x, int cell_y) const {
    const int mask = (1 << log2_cells_) - 1;
    return values_[static_cast<std::size_t>(cell_y & mask) << log2_cells_ | static_cast<std::size_t>(cell_x & mask)];
  }
  [[nodiscard]] int smooth(int offset) const {
    const int f = (offset << 8) >> log2_cell_;  // 3f^2 - 2f^3
    return (f * f * (768 - 2 * f)) >> 16;
  }

  int log2_cell_;
  int log2_cells_;
  std::vector<int> values_;
};

}  // namespace

Texture::Texture(int log2_side) : log2_side_(log2_side), samples_(std::size_t{1} << (2 * log2_side)) {}

Texture Texture::natural(std::uint32_t seed, int log2_side, int contrast) {
  Texture texture(log2_side);
  const int side = 1 << log2_side;
  // From large to small; amplitude falls with size, as natural spectra do.
  std::vector<LatticeNoise> sizes;
  for (int log2_cell = log2_side - 2; log2_cell >= 1; --log2_cell) {
    sizes.emplace_back(seed + static_cast<std::uint32_t>(log2_cell), log2_cell, log2_side);
  }
  const LatticeNoise large_things(seed + 77, log2_side - 3, log2_side);
  const LatticeNoise small_things(seed + 78, std::max(log2_side - 5, 1), log2_side);
  std::size_t i = 0;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      int sum = 0;
      int weight = 256;
      for (const LatticeNoise& noise : sizes) {
        sum += noise.at(x, y) * weight >> 8;
        weight = weight * 3 / 4;
      }
      // Where another noise crosses a level there is an edge, as between things.
      const int things = large_things.at(x, y) + small_things.at(x, y) / 3;
      if (things > 900) sum += 1500;
      if (things < -1100) sum -= 1300;
      texture.samples_[i++] = clamp_sample(128 + (sum * contrast >> 13));
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
