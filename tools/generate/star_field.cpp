#include "generate/star_field.h"

#include <algorithm>

#include "generate/integer_math.h"

namespace c63 {
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
