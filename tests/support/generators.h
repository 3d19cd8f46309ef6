#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "c63/picture.h"

namespace c63::test {

using Bytes = std::vector<std::uint8_t>;

/// Generator A of the golden vectors: noise. Each byte follows from its position in the file.
inline Bytes generate_a(int width, int height, int frames) {
  Bytes bytes(frame_bytes(width, height) * static_cast<std::size_t>(frames));
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    bytes[k] = static_cast<std::uint8_t>((static_cast<std::uint32_t>(k) * 2654435761U) >> 13);
  }
  return bytes;
}

/// Makes a video with even sides. sample(x, y, frame, plane) returns each sample.
template <typename Sample>
Bytes generate(int width, int height, int frames, Sample&& sample) {
  Bytes bytes;
  bytes.reserve(frame_bytes(width, height) * static_cast<std::size_t>(frames));
  for (std::uint32_t f = 0; f < static_cast<std::uint32_t>(frames); ++f) {
    for (std::uint32_t p = 0; p < 3; ++p) {
      const auto w = static_cast<std::uint32_t>(p == 0 ? width : width / 2);
      const auto h = static_cast<std::uint32_t>(p == 0 ? height : height / 2);
      for (std::uint32_t y = 0; y < h; ++y) {
        for (std::uint32_t x = 0; x < w; ++x) bytes.push_back(static_cast<std::uint8_t>(sample(x, y, f, p)));
      }
    }
  }
  return bytes;
}

/// Generator B of the golden vectors: a brightness ramp and steps, which both move.
inline Bytes generate_b(int width, int height, int frames) {
  return generate(width, height, frames, [](std::uint32_t x, std::uint32_t y, std::uint32_t f, std::uint32_t p) {
    return p == 0 ? 3 * x + 5 * y + 7 * f + 20 * ((x / 8 + y / 8 + f) % 3) : 128 + 9 * p + 2 * x - y + 3 * f;
  });
}

/// Generator D of the golden vectors, with seed `s`: textures of squares of x and y. Their bytes change if a
/// multiplication and an addition are fused.
inline Bytes generate_d(std::uint32_t s, int width, int height, int frames) {
  const auto px = [s](std::uint32_t x, std::uint32_t y, std::uint32_t f, std::uint32_t p) {
    return (x * x * (s % 7 + 1) + y * y * (s % 5 + 2) + x * y * (s % 11) + (17 * f + 31 * p) * s) >> (2 + s % 4);
  };
  return generate(width, height, frames, [px](std::uint32_t x, std::uint32_t y, std::uint32_t f, std::uint32_t p) {
    return p == 0 ? px(x + f, y, f, 0) : px(x, y + f, f, p);
  });
}

/// A small random number generator. The same seed always gives the same numbers.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  /// 0..bound-1
  std::uint32_t below(std::uint32_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

/// A video of noise. Nothing in it can be predicted.
inline Bytes random_video(int width, int height, int frames, std::uint64_t seed = 1) {
  Bytes bytes(frame_bytes(width, height) * static_cast<std::size_t>(frames));
  Random random(seed);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  return bytes;
}

/// A video of samples that are 0 or 255 at random. This gives the largest residuals and coefficients.
inline Bytes extreme_video(int width, int height, int frames, std::uint64_t seed = 1) {
  Bytes bytes = random_video(width, height, frames, seed);
  for (auto& byte : bytes) byte = byte < 128 ? 0 : 255;
  return bytes;
}

/// A texture with a little noise. It moves by (-2, -1) samples per frame, so the true vectors are (2, 1). Width and
/// height may be odd.
inline Bytes moving_video(int width, int height, int frames, std::uint64_t seed = 1) {
  Bytes bytes;
  Random random(seed);
  for (int f = 0; f < frames; ++f) {
    for (int p = 0; p < 3; ++p) {
      const std::size_t count = plane_bytes(width, height, p);
      const int w = p == 0 ? width : (width + 1) / 2;
      for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<std::uint32_t>(i % static_cast<std::size_t>(w)) + 2U * static_cast<std::uint32_t>(f);
        const auto y = static_cast<std::uint32_t>(i / static_cast<std::size_t>(w)) + static_cast<std::uint32_t>(f);
        bytes.push_back(static_cast<std::uint8_t>(((x * x * 5 + y * y * 3 + x * y * 7) >> 4) + random.below(4)));
      }
    }
  }
  return bytes;
}

/// Returns moving_video() with noise: each sample differs by at most `noise`.
inline Bytes noisy_video(int width, int height, int frames, std::uint32_t noise) {
  Bytes video = moving_video(width, height, frames);
  Random random(7);
  for (auto& sample : video) {
    const int value = sample + static_cast<int>(random.below(2 * noise + 1)) - static_cast<int>(noise);
    sample = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
  }
  return video;
}

/// A video of ramps with eight grey levels. In frame f, they begin at levels[f]. If two frames have levels that differ
/// by 8 or more, the encoder takes them for different scenes.
inline Bytes scene_video(int width, int height, const std::vector<int>& levels) {
  return generate(width, height, static_cast<int>(levels.size()),
                  [&](std::uint32_t x, std::uint32_t y, std::uint32_t f, std::uint32_t p) {
                    return static_cast<std::uint32_t>(levels[f]) + (x + 2 * y + 3 * f + p) % 8;
                  });
}

}  // namespace c63::test
