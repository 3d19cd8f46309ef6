#include "bench/cuda/test_video.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "c63/error.h"
#include "codec/geometry.h"

namespace c63::bench {
namespace {

/// Smooth noise that repeats in both directions.
class Texture {
 public:
  Texture(int cell, std::uint32_t seed) : cell_(cell), values_(kSide * kSide) {
    std::mt19937 random(seed);
    for (float& v : values_) v = static_cast<float>(random() % 1024) / 512.F - 1.F;
  }
  [[nodiscard]] float at(float x, float y) const {
    const float u = x / static_cast<float>(cell_);
    const float v = y / static_cast<float>(cell_);
    const int ix = static_cast<int>(std::floor(u));
    const int iy = static_cast<int>(std::floor(v));
    const float fx = u - static_cast<float>(ix);
    const float fy = v - static_cast<float>(iy);
    const float top = value(ix, iy) * (1 - fx) + value(ix + 1, iy) * fx;
    const float bottom = value(ix, iy + 1) * (1 - fx) + value(ix + 1, iy + 1) * fx;
    return top * (1 - fy) + bottom * fy;
  }

 private:
  static constexpr int kSide = 256;
  [[nodiscard]] float value(int x, int y) const { return values_[(y & (kSide - 1)) * kSide + (x & (kSide - 1))]; }
  int cell_;
  std::vector<float> values_;
};

struct Disc {
  float x, y, radius, speed_x, speed_y;
};

}  // namespace

LumaVideo natural_video(int width, int height, int frames) {
  LumaVideo video{"natural", width, height, {}};
  const Texture scales[] = {Texture(96, 1), Texture(31, 2), Texture(11, 3), Texture(4, 4), Texture(2, 5)};
  const float weights[] = {44.F, 26.F, 15.F, 8.F, 4.F};
  std::mt19937 random(6);
  std::vector<Disc> discs;
  for (int i = 0; i < 12; ++i) {
    const auto pick = [&](int n) { return static_cast<float>(random() % static_cast<unsigned>(n)); };
    discs.push_back({pick(width), pick(height), 0.04F * static_cast<float>(height) + pick(height / 10 + 1),
                     pick(17) - 8.F, pick(13) - 6.F});
  }
  for (int t = 0; t < frames; ++t) {
    std::vector<std::uint8_t> frame(static_cast<std::size_t>(width) * height);
    const auto time = static_cast<float>(t);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        float u = static_cast<float>(x) + 2.3F * time;
        float v = static_cast<float>(y) - 1.4F * time;
        float light = 0;
        for (std::size_t i = 0; i < discs.size(); ++i) {
          const float dx = static_cast<float>(x) - discs[i].x - discs[i].speed_x * time;
          const float dy = static_cast<float>(y) - discs[i].y - discs[i].speed_y * time;
          if (dx * dx + dy * dy < discs[i].radius * discs[i].radius) {
            u = dx + 701.F * static_cast<float>(i);
            v = dy + 307.F * static_cast<float>(i);
            light = 12.F * static_cast<float>(i % 5) - 24.F;
          }
        }
        float sample = 120.F + light;
        for (std::size_t i = 0; i < std::size(scales); ++i) sample += weights[i] * scales[i].at(u, v);
        sample += static_cast<float>(random() % 7 + random() % 7) - 6.F;
        frame[static_cast<std::size_t>(y) * width + x] = static_cast<std::uint8_t>(std::clamp(sample, 0.F, 255.F));
      }
    }
    video.frames.push_back(std::move(frame));
  }
  return video;
}

LumaVideo noise_video(int width, int height, int frames) {
  LumaVideo video{"noise", width, height, {}};
  std::mt19937 random(7);
  for (int t = 0; t < frames; ++t) {
    std::vector<std::uint8_t> frame(static_cast<std::size_t>(width) * height);
    for (std::uint8_t& sample : frame) sample = static_cast<std::uint8_t>(random());
    video.frames.push_back(std::move(frame));
  }
  return video;
}

LumaVideo read_luma(const std::string& file, int width, int height, int frames) {
  const Geometry geometry(width, height);
  LumaVideo video{file.substr(file.find_last_of('/') + 1), geometry.padded_width(), geometry.padded_height(), {}};
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(ErrorKind::input, "C63-BENCH-INPUT", "cannot open", {.file = file});
  for (int t = 0; t < frames; ++t) {
    std::vector<std::uint8_t> frame(geometry.plane(0).samples());
    in.read(reinterpret_cast<char*>(frame.data()), static_cast<std::streamsize>(geometry.plane(0).coded_samples));
    if (!in) break;
    in.ignore(static_cast<std::streamsize>(geometry.frame_bytes() - geometry.plane(0).coded_samples));
    video.frames.push_back(std::move(frame));
  }
  if (video.frames.size() < 2)
    throw Error(ErrorKind::input, "C63-BENCH-INPUT", "has fewer than two frames", {.file = file});
  return video;
}

}  // namespace c63::bench
