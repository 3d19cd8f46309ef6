#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace c63::tools {

using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// An RGB picture, 8 bits per component. Rows are stored without gaps.
class Image {
 public:
  Image(int width, int height) : width_(width), height_(height), rgb_(3 * static_cast<std::size_t>(width) * height) {}

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return rgb_; }

  [[nodiscard]] Colour at(int x, int y) const {
    const std::uint8_t* p = &rgb_[offset(x, y)];
    return {p[0], p[1], p[2]};
  }
  void set(int x, int y, Colour colour) { std::copy(colour.begin(), colour.end(), &rgb_[offset(x, y)]); }
  /// Mixes `colour` into a pixel. `opacity` is 0..1. Does nothing outside the picture.
  void blend(int x, int y, Colour colour, double opacity);

 private:
  [[nodiscard]] std::size_t offset(int x, int y) const { return 3 * (static_cast<std::size_t>(y) * width_ + x); }

  int width_;
  int height_;
  std::vector<std::uint8_t> rgb_;
};

/// Returns the RGB picture of a 4:2:0 frame with its planes one after another (BT.601, video range unless
/// `full_range` is set). Each sample becomes scale x scale pixels. If a side is odd, chroma has no fixed row length, and the picture is grey.
[[nodiscard]] Image to_image(std::span<const std::uint8_t> frame, int width, int height, int scale = 1, bool full_range = false);

/// Returns a colour for a value 0..1: dark violet for 0, over red, to pale yellow for 1. Its lightness rises evenly.
[[nodiscard]] Colour heat_colour(double value);

/// Draws a line from (x0, y0) to (x1, y1), `thickness` pixels wide, with smooth edges.
void draw_line(Image& image, double x0, double y0, double x1, double y1, double thickness, Colour colour);

/// Draws a line with an arrow head at (x1, y1).
void draw_arrow(Image& image, double x0, double y0, double x1, double y1, double thickness, Colour colour);

}  // namespace c63::tools
