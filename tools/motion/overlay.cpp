#include "motion/overlay.h"

#include <algorithm>
#include <cmath>

namespace c63::tools {
namespace {

constexpr int kBlock = 8;
constexpr std::size_t kPeakPercentile = 99;  // a few blocks may be far above all others
constexpr Colour kNoVector = {255, 0, 200};

std::uint32_t value_of(const MotionFrame& frame, OverlayOptions::Heat heat, std::size_t block) {
  const PlaneBlocks& luma = frame.blocks.planes[0];
  return heat == OverlayOptions::Heat::sad ? frame.sads[0][block] : luma.motion_bits[block] + luma.coefficient_bits[block];
}

void darken(Image& image) {
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) image.blend(x, y, {0, 0, 0}, 0.35);
  }
}

void draw_heat(Image& image, const MotionFrame& frame, const OverlayOptions& o) {
  const PlaneBlocks& luma = frame.blocks.planes[0];
  const auto has_value = [&](std::size_t i) { return o.heat != OverlayOptions::Heat::sad || luma.inter[i] != 0; };
  std::vector<std::uint32_t> values;
  for (std::size_t i = 0; i < luma.vectors.size(); ++i) {
    if (has_value(i)) values.push_back(value_of(frame, o.heat, i));
  }
  std::uint32_t peak = 1;
  if (!values.empty()) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * kPeakPercentile / 100);
    std::nth_element(values.begin(), at, values.end());
    peak = std::max(peak, *at);
  }
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const auto block = static_cast<std::size_t>(y / o.scale / kBlock * luma.columns + x / o.scale / kBlock);
      if (!has_value(block)) continue;
      // The square root makes small costs visible, because a few blocks cost far more than the rest.
      const double heat = std::sqrt(std::min(1.0, value_of(frame, o.heat, block) / static_cast<double>(peak)));
      image.blend(x, y, heat_colour(heat), 0.6);
    }
  }
}

void draw_frame(Image& image, int left, int top, int size, Colour colour) {
  for (int i = 0; i < size; ++i) {
    image.blend(left + i, top, colour, 0.8);
    image.blend(left + i, top + size - 1, colour, 0.8);
    image.blend(left, top + i, colour, 0.8);
    image.blend(left + size - 1, top + i, colour, 0.8);
  }
}

void draw_vector(Image& image, double x, double y, double vector_x, double vector_y, int scale) {
  const double thickness = std::max(1.0, scale / 2.0);
  const double length = std::hypot(vector_x, vector_y);
  if (length == 0) {
    draw_line(image, x, y, x, y, thickness, {190, 190, 190});
    return;
  }
  const double warm = std::min(1.0, length / 16);
  const Colour colour = {static_cast<std::uint8_t>(255 * warm), 255, static_cast<std::uint8_t>(80 * (1 - warm))};
  draw_arrow(image, x, y, x + vector_x * scale, y + vector_y * scale, thickness, colour);
}

}  // namespace

std::pair<int, int> shown_size(const MotionFrame& frame) {
  const FrameBlocks& blocks = frame.blocks;
  if (frame.film != nullptr || blocks_line_up(blocks.width)) return {blocks.width, blocks.height};
  return {(blocks.width + 15) / 16 * 16, (blocks.height + 15) / 16 * 16};
}

std::vector<std::uint8_t> shown_samples(std::span<const std::uint8_t> samples, const MotionFrame& frame) {
  const FrameBlocks& blocks = frame.blocks;
  const auto [width, height] = shown_size(frame);
  if (width == blocks.width) return {samples.begin(), samples.end()};
  std::vector<std::uint8_t> coded(frame_bytes(width, height), 128);
  const auto from = split_planes(samples, blocks.width, blocks.height);
  const auto to = split_planes(std::span(coded), width, height);
  for (std::size_t p = 0; p < 3; ++p) std::copy(from[p].begin(), from[p].end(), to[p].begin());
  return coded;
}

Image motion_picture(const MotionFrame& frame, const OverlayOptions& o) {
  const FrameBlocks& blocks = frame.blocks;
  const auto& samples = o.background == OverlayOptions::Background::prediction ? frame.prediction : frame.picture;
  const auto [width, height] = shown_size(frame);
  Image image = to_image(shown_samples(samples, frame), width, height, o.scale, frame.full_range);
  if (blocks.repeat) return image;
  if (o.heat != OverlayOptions::Heat::none) {
    draw_heat(image, frame, o);
  } else if (o.vectors) {
    darken(image);
  }
  if (!o.vectors || blocks.key) return image;
  const PlaneBlocks& luma = blocks.planes[0];
  const int size = kBlock * o.scale;
  for (int row = 0; row < luma.rows; ++row) {
    for (int column = 0; column < luma.columns; ++column) {
      const auto block = static_cast<std::size_t>(row) * luma.columns + column;
      const std::uint8_t inter = o.codec ? frame.codec()->inter[block] : luma.inter[block];
      const double units = o.codec ? CodecField::kUnits : 1;
      const double x = o.codec ? frame.codec()->vectors[block].x : luma.vectors[block].x;
      const double y = o.codec ? frame.codec()->vectors[block].y : luma.vectors[block].y;
      if (inter == 0) {
        draw_frame(image, column * size, row * size, size, kNoVector);
      } else {
        draw_vector(image, (column + 0.5) * size, (row + 0.5) * size, x / units, y / units, o.scale);
      }
    }
  }
  return image;
}

}  // namespace c63::tools
