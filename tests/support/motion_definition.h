#pragma once

// The definition of estimate_motion() (c63/motion_search.h) as simple code. All implementations are compared with it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "c63/motion_search.h"

namespace c63::test {

/// Memory for the results of a motion search in several pairs of planes.
struct FoundMotion {
  FoundMotion(std::size_t pairs, std::size_t blocks)
      : vectors(pairs * blocks), sads(pairs * blocks), seconds(pairs * blocks), quarters(4 * pairs * blocks) {}
  [[nodiscard]] MotionResults results() { return {vectors.data(), sads.data(), seconds.data(), quarters.data()}; }

  std::vector<MotionVector> vectors;
  std::vector<std::uint16_t> sads;
  std::vector<std::uint16_t> seconds;
  std::vector<std::uint16_t> quarters;
};

inline std::array<int, 4> quarters_at(const MotionPair& pair, int x, int y, int vx, int vy) {
  std::array<int, 4> sums{};
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      sums[static_cast<std::size_t>(i / 4 * 2 + j / 4)] +=
          std::abs(pair.current.at(x + j, y + i) - pair.reference.at(x + vx + j, y + vy + i));
    }
  }
  return sums;
}

inline int sad_of_vector(const MotionPair& pair, int x, int y, int vx, int vy) {
  const auto quarters = quarters_at(pair, x, y, vx, vy);
  return quarters[0] + quarters[1] + quarters[2] + quarters[3];
}

inline void define_block(const MotionPair& pair, const MotionSettings& settings, MotionVector centre, int x, int y,
                         std::size_t block, FoundMotion& found) {
  struct Candidate {
    int sad, vx, vy;
  };
  std::vector<Candidate> candidates;
  for (int vy = std::max({centre.y - settings.range, -y, -128}); vy < std::min({centre.y + settings.range, pair.current.height - 8 - y, 128}); ++vy) {
    for (int vx = std::max({centre.x - settings.range, -x, -128}); vx < std::min({centre.x + settings.range, pair.current.width - 8 - x, 128}); ++vx) {
      candidates.push_back({sad_of_vector(pair, x, y, vx, vy), vx, vy});
    }
  }
  const Candidate zero{sad_of_vector(pair, x, y, 0, 0), 0, 0};
  Candidate best = zero;
  if (!candidates.empty()) best = *std::ranges::min_element(candidates, {}, &Candidate::sad);  // the first of equals
  if (settings.zero_bias > 0 && zero.sad < best.sad + settings.zero_bias) best = zero;
  int second = MotionResults::kNoSecond;
  for (const Candidate& c : candidates) {
    if (std::max(std::abs(c.vx - best.vx), std::abs(c.vy - best.vy)) >= settings.second_distance) second = std::min(second, c.sad);
  }
  found.vectors[block] = {static_cast<std::int8_t>(best.vx), static_cast<std::int8_t>(best.vy)};
  found.sads[block] = static_cast<std::uint16_t>(best.sad);
  found.seconds[block] = static_cast<std::uint16_t>(second);
  const auto quarters = quarters_at(pair, x, y, best.vx, best.vy);
  for (std::size_t q = 0; q < 4; ++q) found.quarters[4 * block + q] = static_cast<std::uint16_t>(quarters[q]);
}

inline FoundMotion defined_motion(std::span<const MotionPair> pairs, const MotionSettings& settings, const MotionVector* around) {
  const int columns = pairs[0].current.width / 8;
  const int rows = pairs[0].current.height / 8;
  const auto blocks = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  FoundMotion found(pairs.size(), blocks);
  for (std::size_t i = 0; i < pairs.size() * blocks; ++i) {
    const auto block = static_cast<int>(i % blocks);
    define_block(pairs[i / blocks], settings, around != nullptr ? around[i] : MotionVector{}, block % columns * 8, block / columns * 8, i, found);
  }
  return found;
}

using MotionImplementation =
    std::function<void(std::span<const MotionPair>, const MotionSettings&, const MotionResults&, const MotionVector*)>;

/// Compares an implementation with the definition. Planes have noise, motion, many equal SADs, or extreme samples. All
/// options are tested, at several sizes.
inline void expect_options_of_the_definition(const MotionImplementation& implementation) {
  struct Size {
    int width, height, pitch;
    std::size_t planes;
  };
  for (const Size& size : {Size{40, 32, 40, 4}, Size{8, 24, 11, 2}, Size{72, 16, 73, 20}}) {
    std::mt19937 random(static_cast<unsigned>(size.width));
    std::vector<std::vector<std::uint8_t>> planes(size.planes, std::vector<std::uint8_t>(static_cast<std::size_t>(size.pitch * size.height)));
    for (std::size_t p = 0; p < planes.size(); ++p) {
      for (int i = 0; i < size.pitch * size.height; ++i) {
        const int x = i % size.pitch + 3 * static_cast<int>(p);
        const int y = i / size.pitch - static_cast<int>(p);
        const int noise = static_cast<int>(random() % 256);
        const std::array values{noise, (x * x / 5 + y * 7 + x * y / 9 + noise % 3) & 255, (x / 12 + y / 10) * 60 & 255, (noise & 1) * 255};
        planes[p][static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(values[p / 2 % values.size()]);
      }
    }
    std::vector<MotionPair> pairs;
    for (std::size_t p = 1; p < planes.size(); ++p) {
      pairs.push_back({{planes[p].data(), size.width, size.height, size.pitch}, {planes[p - 1].data(), size.width, size.height, size.pitch}});
    }
    const std::size_t blocks = static_cast<std::size_t>(size.width / 8) * static_cast<std::size_t>(size.height / 8);
    std::vector<MotionVector> around(pairs.size() * blocks);
    for (MotionVector& v : around) v = {static_cast<std::int8_t>(random() % 41 - 20), static_cast<std::int8_t>(random() % 41 - 20)};
    around[0] = {-128, 127};
    for (const MotionSettings& settings : {MotionSettings{.range = 5}, MotionSettings{.range = 9, .zero_bias = 1, .second_distance = 2},
                                           MotionSettings{.range = 3, .zero_bias = 700, .second_distance = 4},
                                           MotionSettings{.range = 127, .second_distance = 127}}) {
      if (settings.range == 127 && size.width > 40) continue;  // here the definition takes too long
      for (const MotionVector* centres : {static_cast<const MotionVector*>(nullptr), static_cast<const MotionVector*>(around.data())}) {
        const FoundMotion expected = defined_motion(pairs, settings, centres);
        FoundMotion found(pairs.size(), blocks);
        implementation(pairs, settings, found.results(), centres);
        const auto where = [&] {
          return testing::Message() << size.width << "x" << size.height << ", range " << settings.range << ", bias " << settings.zero_bias
                                    << (centres != nullptr ? ", around vectors" : "");
        };
        EXPECT_EQ(found.vectors, expected.vectors) << where();
        EXPECT_EQ(found.sads, expected.sads) << where();
        EXPECT_EQ(found.seconds, expected.seconds) << where();
        EXPECT_EQ(found.quarters, expected.quarters) << where();
        FoundMotion plain(pairs.size(), blocks);
        implementation(pairs, settings, {.vectors = plain.vectors.data()}, centres);
        EXPECT_EQ(plain.vectors, expected.vectors) << where();
      }
    }
  }
}

}  // namespace c63::test
