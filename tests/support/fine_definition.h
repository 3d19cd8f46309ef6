#pragma once

// The definition of estimate_fine_motion() (c63/fine_motion.h) as simple code. All implementations are compared with it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "c63/motion_search.h"
#include "parity/contents.h"

namespace c63::test {

struct FoundFine {
  explicit FoundFine(std::size_t blocks) : vectors(blocks, {-7777, 7777}), sads(blocks, 55555), agrees(blocks, 77) {}
  [[nodiscard]] MotionResults results(bool checks) {
    return {.sads = sads.data(), .fine = vectors.data(), .agrees = checks ? agrees.data() : nullptr};
  }
  bool operator==(const FoundFine&) const = default;

  std::vector<FineVector> vectors;
  std::vector<std::uint16_t> sads;
  std::vector<std::uint8_t> agrees;
};

struct FinePicture {
  int width = 0;
  int height = 0;
  std::vector<int> samples;

  [[nodiscard]] int at(int x, int y) const {
    return samples[static_cast<std::size_t>(std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1))];
  }
  static FinePicture of(int width, int height, const std::function<int(int, int)>& sample) {
    FinePicture picture{width, height, {}};
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) picture.samples.push_back(sample(x, y));
    }
    return picture;
  }
};

/// A picture with the half samples between its own, by H.264's filter.
class HalfSamples {
 public:
  explicit HalfSamples(const FinePicture& p)
      : all_(FinePicture::of(2 * (p.width + 2 * kMargin), 2 * (p.height + 2 * kMargin),
                             [&](int x, int y) { return filtered(p, x - 2 * kMargin, y - 2 * kMargin); })) {}

  /// A sample at (x, y) in quarter samples: H.264's positions G a b c, d e f g, h i j k, n p q r.
  [[nodiscard]] int quarter(int x, int y) const {
    struct Two {
      int x0, y0, x1, y1;  // in half samples
    };
    static constexpr std::array<Two, 16> kMeans = {{{0, 0, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {1, 0, 2, 0}, {0, 0, 0, 1}, {1, 0, 0, 1},
                                                   {1, 0, 1, 1}, {1, 0, 2, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 2, 1},
                                                   {0, 1, 0, 2}, {0, 1, 1, 2}, {1, 1, 1, 2}, {2, 1, 1, 2}}};
    const Two& m = kMeans[static_cast<std::size_t>((y & 3) * 4 + (x & 3))];
    const int left = 2 * ((x >> 2) + kMargin);
    const int top = 2 * ((y >> 2) + kMargin);
    return (all_.at(left + m.x0, top + m.y0) + all_.at(left + m.x1, top + m.y1) + 1) >> 1;
  }

 private:
  static constexpr int kMargin = 12;

  static int filtered(const FinePicture& p, int x, int y) {
    constexpr std::array kTaps = {1, -5, 20, 20, -5, 1};
    int sum = 0;
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        const int column = x % 2 == 0 ? (i == 2 ? 32 : 0) : kTaps[static_cast<std::size_t>(i)];
        const int row = y % 2 == 0 ? (j == 2 ? 32 : 0) : kTaps[static_cast<std::size_t>(j)];
        if (column != 0 && row != 0) sum += column * row * p.at((x >> 1) + i - 2, (y >> 1) + j - 2);
      }
    }
    return std::clamp((sum + 512) >> 10, 0, 255);
  }

  FinePicture all_;
};

class FineDefinition {
 public:
  using Whole = std::pair<int, int>;  ///< a vector in whole samples, x and y

  FineDefinition(const FineMotionSettings& settings, const FinePicture& current, const FinePicture& reference)
      : settings_(settings), current_(current), reference_(reference), halves_(reference) {}

  [[nodiscard]] std::vector<FineVector> search(std::vector<std::uint16_t>* sads) const {
    const std::vector<Whole> whole = search_whole(current_, reference_, settings_.block, settings_.range, settings_.range > 127 ? 3 : 0);
    const int columns = (current_.width + settings_.block - 1) / settings_.block;
    std::vector<FineVector> vectors;
    for (int y = 0; y < current_.height; y += 8) {
      for (int x = 0; x < current_.width; x += 8) {
        const int left = x / settings_.block * settings_.block;
        const int top = y / settings_.block * settings_.block;
        const Whole v = whole[static_cast<std::size_t>(top / settings_.block * columns + left / settings_.block)];
        const Whole quarters = fraction_of(left, top, v);
        if (sads != nullptr) sads->push_back(static_cast<std::uint16_t>(quarter_sad(x, y, 8, quarters)));
        vectors.push_back(settings_.fraction == 32 ? gradient_of(left, top, quarters)
                                                   : FineVector{static_cast<std::int16_t>(8 * quarters.first),
                                                                static_cast<std::int16_t>(8 * quarters.second)});
      }
    }
    return vectors;
  }

 private:
  /// Calls body(x, y) for the samples of a block that lie in the picture.
  template <typename Body>
  static void for_samples(const FinePicture& p, int left, int top, int side, const Body& body) {
    for (int y = top; y < std::min(top + side, p.height); ++y) {
      for (int x = left; x < std::min(left + side, p.width); ++x) body(x, y);
    }
  }

  [[nodiscard]] std::vector<Whole> search_whole(const FinePicture& current, const FinePicture& reference, int side, int range, int steps) const {
    const int columns = (current.width + side - 1) / side;
    const int rows = (current.height + side - 1) / side;
    const auto at = [columns](int column, int row) { return static_cast<std::size_t>(row * columns + column); };
    const auto sad_of = [&](int left, int top, Whole v) {
      int sad = 0;
      for_samples(current, left, top, side, [&](int x, int y) { sad += std::abs(current.at(x, y) - reference.at(x + v.first, y + v.second)); });
      return sad;
    };
    std::vector<Whole> smaller;
    int smaller_columns = 0;
    int smaller_rows = 0;
    if (steps > 0) {
      const auto half = [](const FinePicture& p) {
        const auto half_of = [](int length) { return ((length + 1) / 2 + 7) / 8 * 8; };
        return FinePicture::of(half_of(p.width), half_of(p.height), [&](int x, int y) {
          return (p.at(2 * x, 2 * y) + p.at(2 * x + 1, 2 * y) + p.at(2 * x, 2 * y + 1) + p.at(2 * x + 1, 2 * y + 1) + 2) / 4;
        });
      };
      const FinePicture small = half(current);
      smaller_columns = small.width / 8;
      smaller_rows = small.height / 8;
      smaller = search_whole(small, half(reference), 8, (range + 1) / 2, steps - 1);
    }
    std::vector<Whole> found(static_cast<std::size_t>(columns * rows));
    const auto for_blocks = [&](const auto& body) {
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
          const int left = column * side;
          const int top = row * side;
          body(column, row, left, top, std::min(side, current.width - left), std::min(side, current.height - top));
        }
      }
    };
    for_blocks([&](int column, int row, int left, int top, int width, int height) {
      Whole best{};
      int least = steps > 0 ? INT32_MAX : sad_of(left, top, best);
      const auto offer = [&](int x, int y) {
        const int sad = sad_of(left, top, {x, y});
        if (sad < least) std::tie(least, best) = std::pair(sad, Whole{x, y});
      };
      if (steps == 0) {
        for (int y = std::max(-range, -top); y < std::min(range, current.height - height - top); ++y) {
          for (int x = std::max(-range, -left); x < std::min(range, current.width - width - left); ++x) offer(x, y);
        }
      } else {
        const int place_x = (left + width / 2) / 16;
        const int place_y = (top + height / 2) / 16;
        for (const auto& [dx, dy, counts] : {std::array{0, 0, 2}, {-1, 0, 2}, {1, 0, 2}, {0, -1, 2}, {0, 1, 2}, {0, 0, 0}}) {
          const Whole from = smaller[static_cast<std::size_t>(std::clamp(place_y + dy, 0, smaller_rows - 1) * smaller_columns +
                                                              std::clamp(place_x + dx, 0, smaller_columns - 1))];
          const int seed_x = std::clamp(std::clamp(counts * from.first, -range, range), -left, current.width - width - left);
          const int seed_y = std::clamp(std::clamp(counts * from.second, -range, range), -top, current.height - height - top);
          for (int y = seed_y - 2; y <= seed_y + 2; ++y) {
            for (int x = seed_x - 2; x <= seed_x + 2; ++x) {
              const bool inside = left + x >= 0 && top + y >= 0 && left + x + width <= current.width && top + y + height <= current.height;
              if (inside && std::abs(x) <= range && std::abs(y) <= range) offer(x, y);
            }
          }
        }
      }
      found[at(column, row)] = best;
    });
    for (int pass = 0; settings_.smooth > 0 && pass < 3; ++pass) {
      const std::vector<Whole> before = found;
      for_blocks([&](int column, int row, int left, int top, int width, int height) {
        const auto in_grid = [&](int x, int y) { return x >= 0 && y >= 0 && x < columns && y < rows; };
        const auto cost_of = [&](Whole v) {
          int distance = 0;
          for (const auto& [dx, dy] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
            if (!in_grid(column + dx, row + dy)) continue;
            const Whole other = before[at(column + dx, row + dy)];
            distance += std::min(16, std::abs(v.first - other.first) + std::abs(v.second - other.second));
          }
          return sad_of(left, top, v) + settings_.smooth * (width / 8) * (height / 8) * distance;
        };
        Whole best = before[at(column, row)];
        int least = cost_of(best);
        const auto offer = [&](Whole v) {
          if (left + v.first < 0 || top + v.second < 0 || left + v.first + width > current.width || top + v.second + height > current.height) return;
          const int cost = cost_of(v);
          if (cost < least) std::tie(least, best) = std::pair(cost, v);
        };
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            if (in_grid(column + dx, row + dy)) offer(before[at(column + dx, row + dy)]);
          }
        }
        offer({0, 0});
        found[at(column, row)] = best;
      });
    }
    return found;
  }

  [[nodiscard]] int quarter_sad(int left, int top, int side, Whole v) const {
    int sad = 0;
    for_samples(current_, left, top, side, [&](int x, int y) {
      sad += std::abs(current_.at(x, y) - halves_.quarter(4 * x + v.first, 4 * y + v.second));
    });
    return sad;
  }

  /// Returns the best fraction around a whole vector, in quarter samples.
  [[nodiscard]] Whole fraction_of(int left, int top, Whole whole) const {
    const Whole centre{4 * whole.first, 4 * whole.second};
    if (settings_.fraction == 1) return centre;
    std::tuple<int, int, int, int> least{INT32_MAX, 0, 0, 0};
    for (int y = -3; y <= 3; ++y) {
      for (int x = -3; x <= 3; ++x) {
        if (settings_.fraction == 2 && (x % 2 != 0 || y % 2 != 0)) continue;
        const Whole v{centre.first + x, centre.second + y};
        least = std::min(least, {quarter_sad(left, top, settings_.block, v), std::abs(x) + std::abs(y), y, x});
      }
    }
    return {centre.first + std::get<3>(least), centre.second + std::get<2>(least)};
  }

  [[nodiscard]] FineVector gradient_of(int left, int top, Whole v) const {
    std::int64_t xx = 128;
    std::int64_t yy = 128;
    std::int64_t xy = 0;
    std::int64_t xt = 0;
    std::int64_t yt = 0;
    const int right = std::min(left + settings_.block, current_.width) + 4;
    const int bottom = std::min(top + settings_.block, current_.height) + 4;
    for (int y = std::max(1, top - 4); y < std::min(bottom, current_.height - 1); ++y) {
      for (int x = std::max(1, left - 4); x < std::min(right, current_.width - 1); ++x) {
        const int gx = current_.at(x + 1, y) - current_.at(x - 1, y);
        const int gy = current_.at(x, y + 1) - current_.at(x, y - 1);
        const int t = current_.at(x, y) - halves_.quarter(4 * x + v.first, 4 * y + v.second);
        xx += gx * gx;
        xy += gx * gy;
        yy += gy * gy;
        xt += gx * t;
        yt += gy * t;
      }
    }
    // Rounds to the nearest, halves away from zero. Both gradients are twice the slope.
    const auto step = [&](std::int64_t above) {
      const std::int64_t below = xx * yy - xy * xy;
      const std::int64_t size = (2 * 64 * std::abs(above) + below) / (2 * below);
      return static_cast<int>(std::min<std::int64_t>(8, size)) * (above < 0 ? -1 : 1);
    };
    return {static_cast<std::int16_t>(8 * v.first + step(yy * xt - xy * yt)), static_cast<std::int16_t>(8 * v.second + step(xx * yt - xy * xt))};
  }

  const FineMotionSettings& settings_;
  const FinePicture& current_;
  const FinePicture& reference_;
  HalfSamples halves_;
};

inline FoundFine defined_fine_motion(std::span<const MotionPair> pairs, const FineMotionSettings& settings) {
  FoundFine found(0);
  for (const MotionPair& pair : pairs) {
    const auto picture = [](const ConstPlaneView& p) { return FinePicture::of(p.width, p.height, [&](int x, int y) { return p.at(x, y); }); };
    const FinePicture current = picture(pair.current);
    const FinePicture reference = picture(pair.reference);
    const std::vector<FineVector> vectors = FineDefinition(settings, current, reference).search(&found.sads);
    found.vectors.insert(found.vectors.end(), vectors.begin(), vectors.end());
    if (settings.check < 0) continue;
    const std::vector<FineVector> back = FineDefinition(settings, reference, current).search(nullptr);
    const int columns = current.width / 8;
    const int rows = current.height / 8;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const FineVector v = vectors[static_cast<std::size_t>(row * columns + column)];
        const int x = std::clamp((column * 8 + 4) * 32 + v.x, 0, 8 * 32 * columns - 1) / (8 * 32);
        const int y = std::clamp((row * 8 + 4) * 32 + v.y, 0, 8 * 32 * rows - 1) / (8 * 32);
        const FineVector w = back[static_cast<std::size_t>(y * columns + x)];
        found.agrees.push_back(std::abs(v.x + w.x) <= settings.check && std::abs(v.y + w.y) <= settings.check ? 1 : 0);
      }
    }
  }
  return found;
}

struct FineImplementation {
  std::string_view name;
  std::function<void(std::span<const MotionPair>, const FineMotionSettings&, const MotionResults&)> search;
};

/// Compares implementations with the definition: all settings, several sizes and contents, several pairs in a call.
inline void expect_fine_definition(const std::vector<FineImplementation>& implementations) {
  using parity::Content;
  struct Size {
    int width, height, pitch;
  };
  for (const Size& size : {Size{8, 8, 8}, Size{40, 24, 43}, Size{24, 72, 29}, Size{136, 48, 136}}) {
    for (const auto& [first, second] : {std::pair(Content::shifted, Content::shifted), {Content::random, Content::gradient},
                                        {Content::extremes, Content::extremes}, {Content::columns, Content::columns},
                                        {Content::noise_on_gray, Content::zeros}, {Content::ones, Content::alternating}}) {
      const parity::Plane a(first, size.width, size.height, size.pitch, 1);
      const parity::Plane b(second, size.width, size.height, size.pitch + 5, 2);
      const std::array pairs{MotionPair{a.view(), b.view()}, MotionPair{b.view(), a.view()}};
      for (const FineMotionSettings& settings :
           {FineMotionSettings{.range = 5, .block = 8, .fraction = 4}, {.range = 3, .block = 16, .fraction = 2, .smooth = 3},
            {.range = 4, .block = 32, .fraction = 32, .smooth = 7, .check = 40}, {.range = 9, .block = 8, .fraction = 1, .smooth = 1000},
            {.range = 130, .block = 8, .fraction = 32, .smooth = 2, .check = 16}, {.range = 512, .block = 16, .fraction = 4, .check = 0},
            {.range = 2, .block = 16, .fraction = 1, .check = 32767}, {.range = 2, .block = 8, .fraction = 2}}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " " << name_of(first) << " range " << settings.range << " block "
                                        << settings.block << " fraction " << settings.fraction);
        const FoundFine expected = defined_fine_motion(pairs, settings);
        for (const FineImplementation& implementation : implementations) {
          FoundFine found(expected.vectors.size());
          implementation.search(pairs, settings, found.results(settings.check >= 0));
          if (settings.check < 0) found.agrees.clear();
          ASSERT_TRUE(found.vectors == expected.vectors) << implementation.name;
          ASSERT_EQ(found.sads, expected.sads) << implementation.name;
          ASSERT_EQ(found.agrees, expected.agrees) << implementation.name;
        }
      }
    }
  }
}

}  // namespace c63::test
