#pragma once

#include <cstdint>
#include <vector>

namespace c63 {

/// A square picture that repeats without visible borders and can be sampled at any point. Coordinates are in 1/256
/// sample.
class Texture {
 public:
  /// Makes natural-looking noise: a sum of noises of several sizes, of which the finer ones are weaker, and with edges.
  /// `log2_side` is at least 3.
  static Texture natural(std::uint32_t seed, int log2_side, int contrast);
  /// Makes a checkerboard of squares with sides of `square` samples (a power of two), in two greys.
  static Texture checker(int log2_side, int square, int dark, int bright);

  /// Returns the bilinearly interpolated sample at a point.
  [[nodiscard]] int at(std::int64_t x, std::int64_t y) const {
    const std::int64_t mask = (std::int64_t{1} << log2_side_) - 1;
    const std::size_t x0 = static_cast<std::size_t>((x >> 8) & mask);
    const std::size_t x1 = static_cast<std::size_t>(((x >> 8) + 1) & mask);
    const std::size_t y0 = static_cast<std::size_t>((y >> 8) & mask) << log2_side_;
    const std::size_t y1 = static_cast<std::size_t>(((y >> 8) + 1) & mask) << log2_side_;
    const int fx = static_cast<int>(x & 255);
    const int fy = static_cast<int>(y & 255);
    const int top = samples_[y0 + x0] * (256 - fx) + samples_[y0 + x1] * fx;
    const int bottom = samples_[y1 + x0] * (256 - fx) + samples_[y1 + x1] * fx;
    return (top * (256 - fy) + bottom * fy + 32768) >> 16;
  }

 private:
  explicit Texture(int log2_side);

  int log2_side_;
  std::vector<std::uint8_t> samples_;
};

}  // namespace c63
