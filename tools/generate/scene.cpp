#include "generate/scene.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "generate/integer_math.h"

namespace c63 {
namespace {

constexpr int kOpaque = 256;

/// Returns a position that moves back and forth between 0 and `span` while `position` grows.
std::int64_t bounce(std::int64_t position, std::int64_t span) {
  if (span <= 0) return 0;
  const std::int64_t phase = ((position % (2 * span)) + 2 * span) % (2 * span);
  return phase < span ? phase : 2 * span - phase;
}

}  // namespace

Point Placement::to_texture(Point picture) const {
  const std::int64_t dx = picture.x - centre.x;
  const std::int64_t dy = picture.y - centre.y;
  return {((cosine * dx - sine * dy) >> 16) + origin.x, ((sine * dx + cosine * dy) >> 16) + origin.y};
}

Point Placement::to_picture(Point texture) const {
  const std::int64_t dx = texture.x - origin.x;
  const std::int64_t dy = texture.y - origin.y;
  const std::int64_t square = (cosine * cosine + sine * sine) >> 16;
  return {divide_rounded(cosine * dx + sine * dy, square) + centre.x,
          divide_rounded(cosine * dy - sine * dx, square) + centre.y};
}

Scene::Scene(Texture luma, std::array<Texture, 2> chroma, int width, int height)
    : luma_(std::move(luma)), chroma_(std::move(chroma)), width_(width), height_(height) {}

Placement Scene::place(const Layer& layer, std::int64_t frame) const {
  const Movement& m = layer.movement;
  const std::int64_t swing_x = m.swing.x * sine(m.swing_phase + m.swing_angle * frame) / kUnit;
  const std::int64_t swing_y = m.swing.y * cosine(m.swing_phase + m.swing_angle * frame) / kUnit;
  Placement placement;
  placement.origin = layer.texture_origin;
  if (layer.shape == Shape::everywhere) {
    placement.centre = m.start;  // the content moves, but the centre of the zoom stays
    placement.origin.x -= m.velocity.x * frame + swing_x;
    placement.origin.y -= m.velocity.y * frame + swing_y;
  } else {
    placement.centre = {bounce(m.start.x + m.velocity.x * frame, std::int64_t{width_} * 256) + swing_x,
                        bounce(m.start.y + m.velocity.y * frame, std::int64_t{height_} * 256) + swing_y};
  }
  const std::int64_t scale = 65536 - 65536 * m.zoom_percent / 100 * sine(m.zoom_angle * frame) / kUnit;
  placement.cosine = scale * cosine(m.turn * frame) / kUnit;
  placement.sine = -scale * sine(m.turn * frame) / kUnit;
  return placement;
}

int Scene::coverage(const Layer& layer, Point in_layer) {
  const std::int64_t x = in_layer.x - layer.texture_origin.x;
  const std::int64_t y = in_layer.y - layer.texture_origin.y;
  const Point& half = layer.half_size;
  std::int64_t inside = 0;  // approximate distance from the edge, positive inside
  switch (layer.shape) {
    case Shape::everywhere:
      return kOpaque;
    case Shape::ellipse: {
      if (std::abs(x) > half.x + 256 || std::abs(y) > half.y + 256) return 0;
      const std::int64_t radius = 4096 * x * x / (half.x * half.x) + 4096 * y * y / (half.y * half.y);
      inside = (4096 - radius) * std::min(half.x, half.y) / 8192;
      break;
    }
    case Shape::box:
      inside = std::min(half.x - std::abs(x), half.y - std::abs(y));
      break;
  }
  return static_cast<int>(std::clamp<std::int64_t>(kOpaque / 2 + inside * 2 / 3, 0, kOpaque));
}

void Scene::render_row(int plane, std::int64_t frame, Point first, std::int64_t step, int count,
                       std::uint8_t* row) const {
  const Texture& texture = plane == 0 ? luma_ : chroma_[plane - 1];
  const int shift = plane == 0 ? 0 : 1;  // a chroma texture has half the sides
  for (const Layer& layer : layers_) {
    const Placement placement = place(layer, frame);
    const int offset = plane == 0 ? layer.brightness : layer.colour[plane - 1];
    int from = 0;
    int to = count;
    if (layer.shape != Shape::everywhere) {
      // Objects may turn, but they do not zoom. So no point of an object is further from its centre than the sum of
      // both half sides.
      const std::int64_t reach = layer.half_size.x + layer.half_size.y + 512;
      if (std::abs(first.y - placement.centre.y) > reach) continue;
      from = static_cast<int>(std::clamp<std::int64_t>((placement.centre.x - reach - first.x) / step, 0, count));
      to = static_cast<int>(std::clamp<std::int64_t>((placement.centre.x + reach - first.x) / step + 1, 0, count));
    }
    for (int x = from; x < to; ++x) {
      const Point at = placement.to_texture({first.x + x * step, first.y});
      const int cover = coverage(layer, at);
      if (cover == 0) continue;
      const int value = texture.at(at.x >> shift, at.y >> shift) + offset;
      row[x] = clamp_sample(cover == kOpaque ? value : (row[x] * (kOpaque - cover) + value * cover + 128) >> 8);
    }
  }
}

std::optional<std::size_t> Scene::front_layer(std::int64_t frame, Point picture) const {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const int cover = coverage(layers_[i], place(layers_[i], frame).to_texture(picture));
    if (cover == kOpaque) return i;
    if (cover != 0) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Point> Scene::true_motion(std::int64_t frame, int block_x, int block_y) const {
  if (frame < 1) return std::nullopt;
  std::optional<std::size_t> layer;
  Point motion;
  for (const auto& [x, y] : {std::pair{4, 4}, {0, 0}, {7, 0}, {0, 7}, {7, 7}}) {
    // The centre of an 8x8 block lies between samples 3 and 4, so half a sample is subtracted from 4.
    const std::int64_t middle = x == 4 ? 128 : 0;
    const Point now{(block_x * 8 + x) * 256 - middle, (block_y * 8 + y) * 256 - middle};
    const auto front = front_layer(frame, now);
    if (!front || (layer && *front != *layer)) return std::nullopt;
    const Placement before = place(layers_[*front], frame - 1);
    const Point then = before.to_picture(place(layers_[*front], frame).to_texture(now));
    const bool in_picture = then.x >= 0 && then.y >= 0 && then.x <= (width_ - 1) * 256 && then.y <= (height_ - 1) * 256;
    if (!in_picture || front_layer(frame - 1, then) != front) return std::nullopt;
    if (!layer) motion = {then.x - now.x, then.y - now.y};
    layer = front;
  }
  return motion;
}

}  // namespace c63
