#include "generate/sequence_generator.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "c63/error.h"
#include "generate/integer_math.h"
#include "io/source_parts.h"

namespace c63 {
namespace {

struct PatternRow {
  Pattern pattern;
  std::string_view name;
  std::pair<int, int> motion = {0, 0};  ///< default, in 1/256 sample per frame
  int noise = 0;                        ///< default, see SequenceOptions
};

constexpr std::array kPatterns = {
    PatternRow{Pattern::natural, "natural", {-200, 70}, 20},
    PatternRow{Pattern::pan, "pan", {3 * 256, -2 * 256}},
    PatternRow{Pattern::zoom, "zoom"},
    PatternRow{Pattern::rotate, "rotate"},
    PatternRow{Pattern::objects, "objects", {3 * 256, 2 * 256}},
    PatternRow{Pattern::noise, "noise"},
    PatternRow{Pattern::checker, "checker", {3 * 256, -2 * 256}},
    PatternRow{Pattern::stars, "stars", {300, 170}, 32},
};

const PatternRow& row_of(Pattern pattern) { return *std::ranges::find(kPatterns, pattern, &PatternRow::pattern); }

constexpr int kLog2Texture = 10;  // log2 of the side of a luma texture
constexpr int kMaxNoise = 4096;
constexpr int kMaxMotion = 1 << 20;

/// Adds `count` moving objects to the scene. They differ in size, shape, colour and path.
void add_objects(Scene& scene, const SequenceOptions& options, int count, std::pair<int, int> motion, bool turning) {
  const std::int64_t side = std::max<std::int64_t>(32, std::min(options.width, options.height));
  for (int i = 0; i < count; ++i) {
    auto random = [&, draw = 0U](int from, int to) mutable {
      return from + static_cast<int>(hash(options.seed, 900U + static_cast<std::uint32_t>(i), draw++) %
                                     static_cast<std::uint32_t>(to - from + 1));
    };
    Layer layer;
    layer.shape = i % 2 == 0 ? Shape::ellipse : Shape::box;
    layer.half_size = {side * random(14, 40), side * random(14, 34)};  // 5 % to 16 % of the shorter side
    layer.texture_origin = {random(0, 1023) * 256, random(0, 1023) * 256};
    layer.brightness = random(-50, 50);
    layer.colour = {random(-36, 36), random(-36, 36)};
    Movement& m = layer.movement;
    m.start = {std::int64_t{options.width} * random(20, 236), std::int64_t{options.height} * random(20, 236)};
    m.velocity = {motion.first * random(-8, 8) / 8, motion.second * random(-8, 8) / 8};
    if (turning) {
      m.swing = {side * random(0, 24), side * random(0, 24)};
      m.swing_angle = random(12, 40);
      m.swing_phase = random(0, kTurn - 1);
      m.turn = layer.shape == Shape::box ? random(-9, 9) : 0;
    }
    scene.add(layer);
  }
}

std::unique_ptr<const Scene> make_scene(const SequenceOptions& options, std::pair<int, int> motion) {
  const Pattern pattern = options.pattern;
  const bool checker = pattern == Pattern::checker;
  auto scene = std::make_unique<Scene>(
      checker ? Texture::checker(kLog2Texture, 16, 60, 190) : Texture::natural(options.seed, kLog2Texture, 120),
      std::array{checker ? Texture::checker(kLog2Texture - 1, 8, 110, 140)
                         : Texture::natural(options.seed + 1000, kLog2Texture - 1, 40),
                 checker ? Texture::checker(kLog2Texture - 1, 8, 150, 120)
                         : Texture::natural(options.seed + 2000, kLog2Texture - 1, 40)},
      options.width, options.height);
  Layer background;
  Movement& m = background.movement;
  m.start = {std::int64_t{options.width} * 128, std::int64_t{options.height} * 128};
  if (pattern != Pattern::objects) m.velocity = {motion.first, motion.second};
  if (pattern == Pattern::zoom) {
    m.zoom_percent = 20;
    m.zoom_angle = 24;
  } else if (pattern == Pattern::rotate) {
    m.turn = 8;
  } else if (pattern == Pattern::natural) {
    m.swing = {2600, 1500};
    m.swing_angle = 31;
    m.zoom_percent = 10;
    m.zoom_angle = 14;
  }
  scene->add(background);
  if (pattern == Pattern::objects) add_objects(*scene, options, 6, motion, false);
  if (pattern == Pattern::natural) add_objects(*scene, options, 5, {560, 420}, true);
  return scene;
}

void require(bool condition, const char* id, const std::string& message) {
  if (!condition) throw Error(ErrorKind::usage, id, message);
}

}  // namespace

template <>
std::span<const std::pair<Pattern, std::string_view>> names_of() {
  static const std::array names = [] {
    std::array<std::pair<Pattern, std::string_view>, kPatterns.size()> all;
    std::ranges::transform(kPatterns, all.begin(), [](const PatternRow& row) { return std::pair{row.pattern, row.name}; });
    return all;
  }();
  return names;
}

SequenceGenerator::SequenceGenerator(const SequenceOptions& options) : options_(options) {
  check_picture_size(options_.width, options_.height, options_.limits, {});
  require(options_.frames >= 0, "C63-COUNT-RANGE", "the number of frames must not be negative");
  const auto motion = options_.motion.value_or(row_of(options_.pattern).motion);
  require(std::abs(std::int64_t{motion.first}) <= kMaxMotion && std::abs(std::int64_t{motion.second}) <= kMaxMotion,
          "C63-GEN-MOTION", "the motion must stay within 4096 samples per frame");
  if (!options_.noise) options_.noise = row_of(options_.pattern).noise;
  require(*options_.noise >= 0 && *options_.noise <= kMaxNoise, "C63-GEN-NOISE",
          "the noise must be between 0 and 256 grey levels");
  if (options_.pattern == Pattern::stars) {
    stars_ =
        std::make_unique<StarField>(options_.width, options_.height, options_.seed, Point{motion.first, motion.second});
  } else if (options_.pattern != Pattern::noise) {
    scene_ = make_scene(options_, motion);
  }
}

SequenceGenerator::~SequenceGenerator() = default;

VideoFormat SequenceGenerator::format() const { return {options_.width, options_.height, options_.rate}; }
std::optional<std::int64_t> SequenceGenerator::frame_count() const { return options_.frames; }

bool SequenceGenerator::read(std::int64_t index, std::span<std::uint8_t> frame) {
  if (index < 0 || index >= options_.frames) return false;
  const auto planes = split_planes(frame, options_.width, options_.height);
  for (int plane = 0; plane < 3; ++plane) {
    const std::span<std::uint8_t> samples = planes[plane];
    const auto key = hash(options_.seed, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(plane));
    if (options_.pattern == Pattern::noise) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = static_cast<std::uint8_t>(hash(key, static_cast<std::uint32_t>(i)) >> 24);
      }
      continue;
    }
    if (stars_ && plane == 0) stars_->render(index, samples.data());
    if (stars_ && plane != 0) std::fill(samples.begin(), samples.end(), std::uint8_t{128});
    if (scene_) {
      // If a side is odd, the chroma samples do not form a rectangle. They are filled row by row as if they did, until
      // they end.
      const auto width = static_cast<std::size_t>(plane == 0 ? options_.width : (options_.width + 1) / 2);
      std::int64_t y = 0;
      for (std::size_t at = 0; at < samples.size(); at += width, ++y) {
        const int count = static_cast<int>(std::min(width, samples.size() - at));
        // A chroma sample lies in the middle of four luma samples.
        if (plane == 0) scene_->render_row(plane, index, {0, y * 256}, 256, count, samples.data() + at);
        if (plane != 0) scene_->render_row(plane, index, {128, y * 512 + 128}, 512, count, samples.data() + at);
      }
    }
    const int noise = plane == 0 ? *options_.noise : *options_.noise / 2;
    if (noise == 0 || (stars_ && plane != 0)) continue;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = clamp_sample(samples[i] + noise_sample(hash(key, static_cast<std::uint32_t>(i)), noise));
    }
  }
  return true;
}

TrueMotion SequenceGenerator::true_motion(std::int64_t frame) const {
  TrueMotion motion{options_.width / 8, options_.height / 8, {}};
  motion.vectors.resize(static_cast<std::size_t>(motion.columns) * static_cast<std::size_t>(motion.rows));
  if (frame < 1 || frame >= options_.frames) return motion;
  for (int y = 0; y < motion.rows; ++y) {
    for (int x = 0; x < motion.columns; ++x) {
      std::optional<Point> from;
      if (scene_) from = scene_->true_motion(frame, x, y);
      if (stars_) {
        const Point now = stars_->truth(frame).shift;
        const Point before = stars_->truth(frame - 1).shift;
        from = Point{before.x - now.x, before.y - now.y};
      }
      if (!from) continue;
      motion.vectors[static_cast<std::size_t>(y) * static_cast<std::size_t>(motion.columns) +
                     static_cast<std::size_t>(x)] = {static_cast<std::int32_t>(from->x),
                                                     static_cast<std::int32_t>(from->y), true};
    }
  }
  return motion;
}

std::optional<StarTruth> SequenceGenerator::star_truth(std::int64_t frame) const {
  if (!stars_) return std::nullopt;
  return stars_->truth(frame);
}

}  // namespace c63
