#include "race/race_cases.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "generate/scene.h"

namespace c63::race {
namespace {

/// A random generator with the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}
  std::uint32_t operator()() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8;
  }
  int below(int count) { return static_cast<int>((*this)() % static_cast<std::uint32_t>(count)); }

 private:
  std::uint32_t state_;
};

/// Returns the sample at x, y. It is called row by row.
using Samples = std::function<std::uint8_t(int x, int y)>;

struct Content {
  const char* name;
  /// Fills both planes of a case.
  void (*fill)(RaceCase& planes, Random& random);
};

void set(RaceCase& c, const Samples& current, const Samples& reference) {
  for (int y = 0; y < c.height; ++y) {
    for (int x = 0; x < c.width; ++x) {
      c.reference[static_cast<std::size_t>(y * c.reference_pitch + x)] = reference(x, y);
    }
  }
  for (int y = 0; y < c.height; ++y) {
    for (int x = 0; x < c.width; ++x) c.current[static_cast<std::size_t>(y * c.current_pitch + x)] = current(x, y);
  }
}

std::uint8_t clamped(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

/// A repeating pattern, so that several candidates of each block share the smallest SAD.
void fill_repeating(RaceCase& c, Random& random) {
  const int period_x = 3 + random.below(5);
  const int period_y = 3 + random.below(5);
  const std::uint32_t salt = random();
  const auto pattern = [=](int x, int y) {
    return static_cast<std::uint8_t>((static_cast<std::uint32_t>(x % period_x * 37 + y % period_y * 59) * 97U + salt) >>
                                     2);
  };
  set(c, pattern, pattern);
}

/// Gives both planes the samples that `sample` returns.
template <auto sample>
void fill_random(RaceCase& c, Random& random) {
  const auto next = [&](int, int) { return static_cast<std::uint8_t>(sample(random)); };
  set(c, next, next);
}

/// Fills the reference with noise. Each block of the current plane is a copy from the reference, from near a corner of the
/// block's search window: in each direction at the last candidate, one sample before it, or one sample outside the window.
void fill_corners(RaceCase& c, Random& random) {
  set(
      c, [](int, int) { return std::uint8_t{0}; }, [&](int, int) { return static_cast<std::uint8_t>(random()); });
  const int low = -c.range;
  const int high = c.range - 1;
  const std::array<int, 6> ends = {low, high, low - 1, high + 1, low + 1, high - 1};
  for (int by = 0; by < c.height; by += 8) {
    for (int bx = 0; bx < c.width; bx += 8) {
      // Near an edge, the copy is moved so that it is inside the plane.
      const int x = std::clamp(bx + ends[static_cast<std::size_t>(random.below(6))], 0, c.width - 8);
      const int y = std::clamp(by + ends[static_cast<std::size_t>(random.below(6))], 0, c.height - 8);
      for (int i = 0; i < 64; ++i) {
        c.current[static_cast<std::size_t>((by + i / 8) * c.current_pitch + bx + i % 8)] =
            c.reference[static_cast<std::size_t>((y + i / 8) * c.reference_pitch + x + i % 8)];
      }
    }
  }
}

/// A texture that moves and changes.
struct MovingTexture {
  explicit MovingTexture(std::uint32_t seed) : texture(Texture::natural(seed, 8, 120)) {
    Random random(seed);
    dx = random.below(1792) - 896;
    dy = random.below(1280) - 640;
  }
  /// Returns frame `index`, from this place of the texture on.
  [[nodiscard]] std::vector<std::uint8_t> frame(int width, int height, int index, std::uint32_t grain_seed, int left = 0, int top = 0) const {
    Random grain(grain_seed + 77U * static_cast<std::uint32_t>(index) + 1);
    std::vector<std::uint8_t> plane;
    for (int y = top; y < top + height; ++y) {
      for (int x = left; x < left + width; ++x)
        plane.push_back(clamped(texture.at(256 * x + dx * index, 256 * y + dy * index) + grain.below(9) - 4));
    }
    return plane;
  }
  Texture texture;
  int dx;  ///< by frame, in 1/256 sample
  int dy;
};

/// A texture that moves, with some noise.
void fill_natural(RaceCase& c, Random& random) {
  const std::uint32_t seed = random();
  const int width = c.width + 2 * c.range;
  const std::vector<std::uint8_t> texture = MovingTexture(seed).frame(width, c.height + 2 * c.range, 0, seed);
  const auto at = [&](int x, int y) { return texture[static_cast<std::size_t>((y + c.range) * width + x + c.range)]; };
  const int dx = random.below(2 * c.range) - c.range;
  const int dy = random.below(2 * c.range) - c.range;
  set(
      c, [&](int x, int y) { return clamped(at(x + dx, y + dy) + random.below(7) - 3); },
      [&](int x, int y) { return at(x, y); });
}

/// For timed runs. All have the same texture and motion, so that the times of races can be compared. Place and noise differ, so
/// nobody knows the samples before.
void fill_timed(RaceCase& c, Random& random) {
  static const MovingTexture texture(1);
  const int left = random.below(1 << 14);
  const int top = random.below(1 << 14);
  const std::uint32_t seed = random();
  c.current = texture.frame(c.width, c.height, 1, seed, left, top);
  c.reference = texture.frame(c.width, c.height, 0, seed, left, top);
}

constexpr std::array<Content, 8> kContents = {{
    {"natural", fill_natural},
    {"noise", fill_random<[](Random& random) { return random(); }>},
    {"corners", fill_corners},
    // All candidates of a block have the same SAD.
    {"flat",
     [](RaceCase& c, Random& random) {
       const auto a = static_cast<std::uint8_t>(random());
       const auto b = static_cast<std::uint8_t>(random());
       set(
           c, [=](int, int) { return a; }, [=](int, int) { return b; });
     }},
    {"repeating", fill_repeating},
    // Only black and white: each difference is 0 or 255, so SADs are large.
    {"extremes", fill_random<[](Random& random) { return random.below(2) == 0 ? 0 : 255; }>},
    // Black against white: each SAD is 16320, the largest possible one.
    {"opposites",
     [](RaceCase& c, Random&) {
       set(
           c, [](int, int) { return std::uint8_t{255}; }, [](int, int) { return std::uint8_t{0}; });
     }},
    // Samples around 128. If a search reads them as signed, some become negative.
    {"middle", fill_random<[](Random& random) { return 118 + random.below(20); }>},
}};

struct Size {
  int width;
  int height;
  int more_current;  ///< pitch minus width, in bytes
  int more_reference;
};

RaceCase make_case(const Content& content, Size size, int plane, int range, Random& random) {
  RaceCase c;
  c.content = content.name;
  c.plane = plane;
  c.range = range;
  c.width = size.width;
  c.height = size.height;
  c.current_pitch = size.width + size.more_current;
  c.reference_pitch = size.width + size.more_reference;
  c.name =
      c.content + " " + std::to_string(c.width) + "x" + std::to_string(c.height) + " " + std::string(1, "YUV"[plane]);
  if (c.current_pitch != c.width || c.reference_pitch != c.width) {
    c.name += ", pitches " + std::to_string(c.current_pitch) + " and " + std::to_string(c.reference_pitch);
  }
  c.current.resize(static_cast<std::size_t>(c.current_pitch) * static_cast<std::size_t>(c.height));
  c.reference.resize(static_cast<std::size_t>(c.reference_pitch) * static_cast<std::size_t>(c.height));
  for (auto* plane_bytes : {&c.current, &c.reference}) {
    for (std::uint8_t& byte : *plane_bytes) byte = static_cast<std::uint8_t>(random());
  }
  content.fill(c, random);
  return c;
}

}  // namespace

void RaceCase::change_padding(std::uint32_t seed) {
  Random random(seed);
  const auto fill = [&](std::vector<std::uint8_t>& bytes, int pitch) {
    for (int y = 0; y < height; ++y) {
      for (int x = width; x < pitch; ++x)
        bytes[static_cast<std::size_t>(y * pitch + x)] = static_cast<std::uint8_t>(random());
    }
  };
  fill(current, current_pitch);
  fill(reference, reference_pitch);
}

std::vector<RaceCase> race_cases(std::uint32_t seed, int range, int part) {
  Random random(seed);
  std::vector<RaceCase> cases;
  const int chroma = std::max(1, range / 2);
  const auto add = [&](std::string_view content, Size size, int plane, int case_range) {
    for (int* const side : {&size.width, &size.height}) *side = std::max(*side / part / 8, 1) * 8;
    for (const Content& c : kContents) {
      if (c.name == content) cases.push_back(make_case(c, size, plane, case_range, random));
    }
  };
  // The first cases are two frames with natural content, as three planes each, as the encoder has them. Then each kind
  // of content follows at a middle size, once as luma and once as chroma.
  for (int i = 0; i < 2; ++i) {
    add("natural", {176, 144, 0, 0}, 0, range);
    add("natural", {88, 72, 0, 0}, 1, chroma);
    add("natural", {88, 72, 0, 0}, 2, chroma);
  }
  for (const Content& content : kContents) {
    add(content.name, {96, 80, 0, 0}, 0, range);
    add(content.name, {48, 40, 0, 0}, 1, chroma);
  }
  // Sizes: odd numbers of blocks, a single block, a single row or column, wide and high planes.
  for (const Size size : {Size{8, 8, 0, 0}, Size{8, 56, 0, 0}, Size{72, 8, 0, 0}, Size{16, 16, 0, 0},
                          Size{24, 40, 0, 0}, Size{104, 56, 0, 0}, Size{56, 120, 0, 0}, Size{200, 24, 0, 0}}) {
    for (const std::string_view content : {"corners", "natural", "repeating"}) add(content, size, 0, range);
  }
  // Pitches larger than the width: of both planes by the same number, by different numbers, or of only one plane.
  for (const Size more : {Size{88, 72, 40, 40}, Size{88, 72, 8, 64}, Size{72, 88, 0, 24}, Size{104, 40, 56, 0}}) {
    for (const std::string_view content : {"noise", "corners"}) add(content, more, 0, range);
  }
  // Smaller search ranges, down to 1.
  for (const int other : {range / 2 + 3, range / 4 + 1, 1}) {
    if (other < 1 || other > range) continue;
    for (const std::string_view content : {"corners", "natural"}) add(content, {80, 64, 0, 0}, 0, other);
  }
  return cases;
}

RaceCase timed_case(int width, int height, int range, std::uint32_t seed) {
  Random random(seed);
  const int longer = width > 8 && height > 8 ? 8 * random.below(3) - 8 : 0;  // the area stays about the same
  return make_case({"timed", fill_timed}, {width + longer, height - longer, 0, 0}, 0, range, random);
}

}  // namespace c63::race
