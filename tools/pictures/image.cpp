#include "pictures/image.h"

#include <algorithm>
#include <cmath>

#include "c63/picture.h"

namespace c63::tools {
namespace {

std::uint8_t clamped(double value) { return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L)); }

Colour to_rgb(int y, int u, int v, bool full_range) {
  const double luma = full_range ? y : 1.164383 * (y - 16);
  const double chroma = full_range ? 224.0 / 255 : 1;
  return {clamped(luma + chroma * 1.596027 * (v - 128)),
          clamped(luma - chroma * (0.391762 * (u - 128) + 0.812968 * (v - 128))),
          clamped(luma + chroma * 2.017232 * (u - 128))};
}

double distance_to_segment(double x, double y, double x0, double y0, double x1, double y1) {
  const double dx = x1 - x0;
  const double dy = y1 - y0;
  const double length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(x - x0 - t * dx, y - y0 - t * dy);
}

}  // namespace

void Image::blend(int x, int y, Colour colour, double opacity) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_ || opacity <= 0) return;
  std::uint8_t* p = &rgb_[offset(x, y)];
  for (std::size_t i = 0; i < 3; ++i) p[i] = clamped(p[i] + (colour[i] - p[i]) * std::min(opacity, 1.0));
}

Image to_image(std::span<const std::uint8_t> frame, int width, int height, int scale, bool full_range) {
  Image image(width * scale, height * scale);
  const auto planes = split_planes(frame, width, height);
  const bool colour = width % 2 == 0 && height % 2 == 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const std::size_t c = static_cast<std::size_t>(y / 2) * (width / 2) + x / 2;
      const Colour rgb = to_rgb(planes[0][static_cast<std::size_t>(y) * width + x], colour ? planes[1][c] : 128,
                                colour ? planes[2][c] : 128, full_range);
      for (int j = 0; j < scale; ++j) {
        for (int i = 0; i < scale; ++i) image.set(x * scale + i, y * scale + j, rgb);
      }
    }
  }
  return image;
}

Colour heat_colour(double value) {
  static constexpr std::array<Colour, 6> kStops = {
      {{12, 8, 38}, {82, 16, 110}, {160, 42, 99}, {224, 92, 62}, {251, 165, 36}, {252, 250, 180}}};
  const double position = std::clamp(std::isfinite(value) ? value : 1.0, 0.0, 1.0) * (kStops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(position), kStops.size() - 2);
  Colour colour{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double low = kStops[i][k];
    colour[k] = clamped(low + (kStops[i + 1][k] - low) * (position - static_cast<double>(i)));
  }
  return colour;
}

void draw_line(Image& image, double x0, double y0, double x1, double y1, double thickness, Colour colour) {
  const double reach = thickness / 2 + 1;
  const int left = static_cast<int>(std::floor(std::min(x0, x1) - reach));
  const int right = static_cast<int>(std::ceil(std::max(x0, x1) + reach));
  const int top = static_cast<int>(std::floor(std::min(y0, y1) - reach));
  const int bottom = static_cast<int>(std::ceil(std::max(y0, y1) + reach));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      image.blend(x, y, colour, thickness / 2 + 0.5 - distance_to_segment(x, y, x0, y0, x1, y1));
    }
  }
}

void draw_arrow(Image& image, double x0, double y0, double x1, double y1, double thickness, Colour colour) {
  draw_line(image, x0, y0, x1, y1, thickness, colour);
  const double length = std::hypot(x1 - x0, y1 - y0);
  if (length < 1) return;
  const double head = std::min(length, 4 * thickness);
  const double angle = std::atan2(y1 - y0, x1 - x0);
  for (const double turn : {2.6, -2.6}) {
    draw_line(image, x1, y1, x1 + head * std::cos(angle + turn), y1 + head * std::sin(angle + turn), thickness, colour);
  }
}

}  // namespace c63::tools
