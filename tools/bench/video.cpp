#include "bench/video.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "c63/error.h"
#include "codec/geometry.h"
#include "io/source_parts.h"

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
  const std::vector<std::uint8_t> all = read_frames(file, width, height, frames);
  for (std::size_t at = 0; at < all.size(); at += geometry.frame_bytes()) {
    std::vector<std::uint8_t>& luma = video.frames.emplace_back(geometry.plane(0).samples());
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(at), geometry.plane(0).coded_samples, luma.begin());
  }
  if (video.frames.size() < 2) throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "has fewer than two frames", {.file = file});
  return video;
}

MemoryVideo::MemoryVideo(int width, int height, std::vector<std::uint8_t> frames, std::int64_t length)
    : width_(width),
      height_(height),
      frame_bytes_(frame_bytes(width, height)),
      frames_(std::move(frames)),
      length_(length) {}

namespace {

/// Returns which of `count` frames comes at `index`, if they are played forward and backward without end.
std::int64_t forth_and_back(std::int64_t index, std::int64_t count) {
  const std::int64_t period = std::max<std::int64_t>(1, 2 * count - 2);
  const std::int64_t phase = index % period;
  return phase < count ? phase : period - phase;
}

std::span<const std::uint8_t> frame_of(std::span<const std::uint8_t> frames, std::size_t frame_bytes, std::int64_t index) {
  const auto at = static_cast<std::size_t>(forth_and_back(index, static_cast<std::int64_t>(frames.size() / frame_bytes)));
  return frames.subspan(at * frame_bytes, frame_bytes);
}

}  // namespace

std::span<const std::uint8_t> MemoryVideo::frame(std::int64_t index) const { return frame_of(frames_, frame_bytes_, index); }

std::span<const std::uint8_t> MemoryVideo::in_place(std::int64_t index) {
  if (offered_.empty() || index >= length_) return {};
  return frame_of(offered_, frame_bytes_, index);
}

std::vector<std::uint8_t> repeated(std::span<const std::uint8_t> frames, std::size_t frame_bytes, std::size_t bytes) {
  std::vector<std::uint8_t> all;
  all.reserve(std::max(bytes, frames.size()) + frame_bytes);
  for (std::int64_t index = 0; all.size() < std::max(bytes, frames.size()); ++index) {
    const std::span<const std::uint8_t> frame = frame_of(frames, frame_bytes, index);
    all.insert(all.end(), frame.begin(), frame.end());
  }
  return all;
}

bool MemoryVideo::read(std::int64_t index, std::span<std::uint8_t> target) {
  if (index >= length_) return false;
  copy_in_pieces(frame(index), target);
  return true;
}

FileVideo::FileVideo(const MemoryVideo& video, std::int64_t length) : folder_("", "c63bench"), length_(length) {
  const std::string path = folder_.file("video.yuv");
  const std::span<const std::uint8_t> frames = video.memory();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(frames.data()), static_cast<std::streamsize>(frames.size()));
  out.close();
  if (!out) throw Error(ErrorKind::output, "C63-BENCH-OUTPUT", "cannot be written; it needs 1 GiB of free space", {.file = path});
  SourceOptions options{.path = path, .format = SourceFormat::raw};
  options.width = video.format().width;
  options.height = video.format().height;
  file_ = open_frame_source(options);
}

bool FileVideo::read(std::int64_t index, std::span<std::uint8_t> target) {
  return index < length_ && file_->read(forth_and_back(index, *file_->frame_count()), target);
}

std::vector<std::uint8_t> natural_frames(int width, int height, int count) {
  const Geometry geometry(width, height);
  const LumaVideo luma = natural_video(geometry.padded_width(), geometry.padded_height(), count);
  const LumaVideo chroma = natural_video(geometry.padded_width() / 2, geometry.padded_height() / 2, count);
  std::vector<std::uint8_t> frames;
  const auto append = [&](const LumaVideo& video, int frame, int w, std::size_t samples) {
    for (std::size_t i = 0; i < samples; i += static_cast<std::size_t>(w)) {
      const auto row = i / static_cast<std::size_t>(w);
      const std::uint8_t* from =
          video.frames[static_cast<std::size_t>(frame)].data() + row * static_cast<std::size_t>(video.width);
      frames.insert(frames.end(), from, from + std::min(samples - i, static_cast<std::size_t>(w)));
    }
  };
  for (int f = 0; f < count; ++f) {
    append(luma, f, width, plane_bytes(width, height, 0));
    for (int p = 1; p < kPlanes; ++p) append(chroma, f, std::max(1, width / 2), plane_bytes(width, height, p));
  }
  return frames;
}

std::vector<std::uint8_t> read_frames(const std::string& file, int width, int height, int count, int first) {
  std::ifstream in(file, std::ios::binary);
  const std::size_t size = frame_bytes(width, height);
  in.seekg(static_cast<std::streamoff>(size) * first);
  std::vector<std::uint8_t> frames(size * static_cast<std::size_t>(count));
  in.read(reinterpret_cast<char*>(frames.data()), static_cast<std::streamsize>(frames.size()));
  frames.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())) / size * size);
  if (frames.empty()) throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "no frame could be read", {.file = file});
  return frames;
}

}  // namespace c63::bench
