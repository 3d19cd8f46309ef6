#pragma once

// Planes for tests of search kernels, and the results that the definition gives for them.

#include <cstdint>
#include <random>
#include <vector>

#include "support/motion_definition.h"

namespace c63::test {

/// A plane in memory with its own pitch. The bytes between rows have the value 0xA5.
struct TestPlane {
  int width;
  int height;
  int pitch;
  std::vector<std::uint8_t> samples;

  TestPlane(int w, int h, int p) : width(w), height(h), pitch(p), samples(static_cast<std::size_t>(p) * h, 0xA5) {}
  std::uint8_t& at(int x, int y) { return samples[static_cast<std::size_t>(y) * pitch + x]; }
  [[nodiscard]] ConstPlaneView view() const { return {samples.data(), width, height, pitch}; }
};

enum class Content { random, zero, full, opposite, alternating, smooth, flat_steps };
inline constexpr Content kContents[] = {Content::random,      Content::zero,   Content::full,      Content::opposite,
                                        Content::alternating, Content::smooth, Content::flat_steps};

/// Returns the value of sample (x, y) in a plane with this content. `which` is 0 for the current plane, 1 for the
/// reference.
inline std::uint8_t sample(Content content, int which, int x, int y, std::mt19937& random) {
  switch (content) {
    case Content::random:
      return static_cast<std::uint8_t>(random());
    case Content::zero:
      return 0;
    case Content::full:
      return 255;
    case Content::opposite:  // the largest possible SAD, 16320, everywhere
      return which == 0 ? 255 : 0;
    case Content::alternating:  // ties everywhere, and sums that change with every step
      return ((x ^ y) & 1) != 0 ? 255 : 0;
    case Content::smooth: {  // a shifted picture with a little noise, like video
      const int u = x + (which == 0 ? 3 : 0);
      const int v = y - (which == 0 ? 2 : 0);
      return static_cast<std::uint8_t>((u * u / 7 + v * 5 + u * v / 11 + static_cast<int>(random() % 4)) & 0xFF);
    }
    case Content::flat_steps:  // large flat areas: of many equal candidates, the first must win
      return static_cast<std::uint8_t>((x / 24 + y / 16) * 40);
  }
  return 0;
}

inline void fill(TestPlane& plane, Content content, int which, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) plane.at(x, y) = sample(content, which, x, y, random);
  }
}

/// The results of the definition.
inline FoundMotion search(const TestPlane& current, const TestPlane& reference, int range) {
  const MotionPair pair{current.view(), reference.view()};
  return defined_motion({&pair, 1}, {.range = range}, nullptr);
}

}  // namespace c63::test
