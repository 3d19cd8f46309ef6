#include "generate/scene.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

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

namespace {

constexpr int kSky = 24;  // grey level between the stars
constexpr int kObjectPeak = 10;
constexpr std::int64_t kReach = 4;  // radius of a spot of light, in samples

}  // namespace

StarField::StarField(int width, int height, std::uint32_t seed, Point velocity)
    : width_(width), height_(height), seed_(seed), velocity_(velocity) {
  // There are also stars outside the picture, because the shaking camera may move them into it.
  const std::int64_t margin = 8 * 256;
  const std::int64_t field_width = std::int64_t{width} * 256 + 2 * margin;
  const std::int64_t field_height = std::int64_t{height} * 256 + 2 * margin;
  const auto count = static_cast<std::uint32_t>(std::max<std::int64_t>(4, std::int64_t{width} * height / 250));
  stars_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t brightness = hash(seed, i, 3U) >> 24;
    stars_.push_back({{hash(seed, i, 1U) % field_width - margin, hash(seed, i, 2U) % field_height - margin},
                      // only a few stars are bright
                      12 + static_cast<int>(brightness * brightness * brightness / 90000)});
  }
}

StarTruth StarField::truth(std::int64_t frame) const {
  StarTruth truth;
  const auto index = static_cast<std::uint32_t>(frame);
  if (frame > 0) {
    truth.shift = {static_cast<std::int64_t>(hash(seed_, index, 11U) % 513) - 256,
                   static_cast<std::int64_t>(hash(seed_, index, 12U) % 513) - 256};
  }
  const std::int64_t span_x = std::int64_t{width_} * 256;
  const std::int64_t span_y = std::int64_t{height_} * 256;
  const auto wrap = [](std::int64_t value, std::int64_t span) { return ((value % span) + span) % span; };
  truth.object = {wrap(span_x / 4 + velocity_.x * frame, span_x) + truth.shift.x,
                  wrap(span_y / 3 + velocity_.y * frame, span_y) + truth.shift.y};
  truth.object_peak = kObjectPeak;
  return truth;
}

void StarField::add_spot(std::vector<int>& light, int width, int height, Point at, int peak) {
  const std::int64_t middle_x = at.x >> 8;
  const std::int64_t middle_y = at.y >> 8;
  constexpr std::int64_t kEnd = kReach * 256;
  for (std::int64_t y = std::max<std::int64_t>(0, middle_y - kReach);
       y <= std::min<std::int64_t>(height - 1, middle_y + kReach); ++y) {
    for (std::int64_t x = std::max<std::int64_t>(0, middle_x - kReach);
         x <= std::min<std::int64_t>(width - 1, middle_x + kReach); ++x) {
      const std::int64_t dx = x * 256 - at.x;
      const std::int64_t dy = y * 256 - at.y;
      const std::int64_t rest = kEnd * kEnd - dx * dx - dy * dy;
      if (rest <= 0) continue;
      // The light of a spot falls as (1 - r²)⁴, where r is the distance from its middle divided by kReach. This is
      // close to a Gaussian, but reaches zero at r = 1.
      const std::int64_t f = rest * 1024 / (kEnd * kEnd);
      const std::int64_t profile = (f * f >> 10) * (f * f >> 10) >> 10;
      light[static_cast<std::size_t>(y * width + x)] += static_cast<int>(profile * peak >> 2);
    }
  }
}

void StarField::render(std::int64_t frame, std::uint8_t* luma) const {
  std::vector<int> light(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), kSky * 256);
  const StarTruth now = truth(frame);
  for (const Star& star : stars_) {
    add_spot(light, width_, height_, {star.at.x + now.shift.x, star.at.y + now.shift.y}, star.peak);
  }
  add_spot(light, width_, height_, now.object, now.object_peak);
  for (std::size_t i = 0; i < light.size(); ++i) luma[i] = clamp_sample((light[i] + 128) >> 8);
}

}  // namespace c63
