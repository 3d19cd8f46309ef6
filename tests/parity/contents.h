#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "c63/picture.h"
#include "cpu/kernels.h"

namespace c63::parity {

/// A test for one instruction set. It is skipped if this machine or build does not have the set.
class LevelTest : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    const auto levels = available_simd_levels();
    if (std::ranges::find(levels, GetParam()) == levels.end()) {
      GTEST_SKIP() << "this machine or build has no " << name(GetParam()) << " kernels";
    }
  }
};

/// All instruction sets but the scalar kernels, with which the others are compared.
inline const auto kVectorLevels = testing::Values(SimdLevel::sse4, SimdLevel::avx2, SimdLevel::avx512, SimdLevel::neon);

inline std::string name_of_level(const testing::TestParamInfo<SimdLevel>& level) { return std::string(name(level.param)); }

/// The kinds of content of test planes. Some give the largest and smallest results of a computation, the others values
/// in between.
enum class Content { zeros, ones, alternating, columns, random, extremes, gradient, noise_on_gray, shifted };

inline constexpr std::array kContents = {Content::zeros,    Content::ones,     Content::alternating,
                                         Content::columns,  Content::random,   Content::extremes,
                                         Content::gradient, Content::noise_on_gray, Content::shifted};

inline const char* name_of(Content content) {
  constexpr std::array kNames = {"zeros",    "ones",     "alternating",   "columns", "random",
                                 "extremes", "gradient", "noise_on_gray", "shifted"};
  return kNames[static_cast<std::size_t>(content)];
}

/// Fills the samples of a plane. A row has `width` samples, and the next row begins `pitch` bytes later. The bytes
/// between rows do not change. The same seed gives the same content.
inline void fill(Content content, std::uint8_t* data, int width, int height, std::ptrdiff_t pitch, unsigned seed) {
  std::mt19937 random(seed);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const unsigned r = random();
      int value = 0;
      switch (content) {
        case Content::zeros: break;
        case Content::ones: value = 255; break;
        case Content::alternating: value = ((x + y + static_cast<int>(seed)) & 1) != 0 ? 255 : 0; break;
        case Content::columns: value = ((x / 3 + static_cast<int>(seed)) & 1) != 0 ? 255 : 0; break;
        case Content::random: value = static_cast<int>(r & 255); break;
        case Content::extremes: value = (r & 1) != 0 ? 255 : 0; break;
        case Content::gradient: value = (3 * x + 5 * y + static_cast<int>(seed)) & 255; break;
        case Content::noise_on_gray: value = 126 + static_cast<int>(r % 5); break;
        case Content::shifted:  // the same picture for every seed, shifted, so that there is real motion
          value = (128 + ((x + static_cast<int>(seed)) * 7 ^ (y + 2 * static_cast<int>(seed)) * 11) % 100) & 255;
          break;
      }
      data[y * pitch + x] = static_cast<std::uint8_t>(value);
    }
  }
}

/// A plane in memory that is filled with `poison` and larger by a margin, because kernels may read some bytes past the
/// end of a plane.
class Plane {
 public:
  Plane(int width, int height, std::ptrdiff_t pitch, std::uint8_t poison = 0xA5)
      : width_(width),
        height_(height),
        pitch_(pitch),
        bytes_(2 * cpu::kPlaneGuard + static_cast<std::size_t>(pitch * height), poison) {}
  Plane(Content content, int width, int height, std::ptrdiff_t pitch, unsigned seed) : Plane(width, height, pitch) {
    fill(content, bytes_.data() + cpu::kPlaneGuard, width, height, pitch, seed);
  }
  [[nodiscard]] PlaneView view() { return {bytes_.data() + cpu::kPlaneGuard, width_, height_, pitch_}; }
  [[nodiscard]] ConstPlaneView view() const { return {bytes_.data() + cpu::kPlaneGuard, width_, height_, pitch_}; }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  int width_;
  int height_;
  std::ptrdiff_t pitch_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace c63::parity
