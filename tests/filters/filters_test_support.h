#pragma once


#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "c63/error.h"
#include "c63/filters.h"
#include "support/expect_error.h"

namespace c63 {

/// Lengths of signals in elements: around the number of values that a vector register, a warp and a thread block hold.
/// 1000003 is a multiple of none.
inline constexpr std::array<std::size_t, 10> kLengths = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000003};

/// Sizes of test pictures in samples: odd and even ones, narrower and wider than filter kernels and tiles (the parts of
/// a picture that a thread block filters).
struct Size {
  int width = 0;
  int height = 0;
};
inline constexpr std::array<Size, 8> kSizes = {{{0, 0}, {1, 1}, {3, 3}, {1, 40}, {40, 1}, {33, 17}, {257, 31}, {130, 129}}};

/// The kinds of values in test signals and pictures.
enum class Content { zeros, largest, alternating, random };
inline constexpr std::array<Content, 4> kContents = {Content::zeros, Content::largest, Content::alternating,
                                                     Content::random};

/// Returns `count` values of this kind. Bytes are from 0 to 255, other types have magnitudes up to about `bound`.
/// Random floating-point values are not only whole numbers.
template <typename T>
std::vector<T> make_values(std::size_t count, Content content, unsigned seed = 1, int bound = 1000) {
  std::mt19937 random(seed);
  const int high = std::is_same_v<T, std::uint8_t> ? 255 : bound;
  const int low = std::is_unsigned_v<T> ? 0 : -bound;
  std::uniform_int_distribution<int> pick(low, high);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    switch (content) {
      case Content::zeros: values[i] = T{0}; break;
      case Content::largest: values[i] = static_cast<T>(high); break;
      case Content::alternating: values[i] = static_cast<T>(i % 2 == 0 ? low : high); break;
      case Content::random:
        values[i] = static_cast<T>(std::is_floating_point_v<T> ? pick(random) + 0.37 * (pick(random) % 10) : pick(random));
    }
  }
  return values;
}

/// A picture with gaps between its rows. The gaps are filled with the value 77, so that a test sees whether something
/// was written there.
template <typename T>
struct Picture {
  static constexpr int kGap = 5;

  Picture(Size size, T poison = T{77})
      : samples(static_cast<std::size_t>(size.width + kGap) * static_cast<std::size_t>(size.height + 1), poison),
        width(size.width),
        height(size.height) {}
  Picture(Size size, Content content, unsigned seed = 1) : Picture(size) {
    const auto values = make_values<T>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), content, seed, 255);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) view().at(x, y) = values[static_cast<std::size_t>(y * width + x)];
    }
  }

  BasicPlaneView<T> view() { return {samples.data(), width, height, width + kGap}; }
  BasicPlaneView<const T> view() const { return {samples.data(), width, height, width + kGap}; }

  std::vector<T> samples;
  int width;
  int height;
};

using test::error_id;

}  // namespace c63
