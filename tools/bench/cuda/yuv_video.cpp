#include "bench/cuda/yuv_video.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "bench/cuda/test_video.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "io/source_parts.h"

namespace c63::bench {

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

FileVideo::FileVideo(const MemoryVideo& video, std::int64_t length)
    : path_(std::filesystem::temp_directory_path() / ("c63bench_" + std::to_string(getpid()) + ".yuv")), length_(length) {
  const std::span<const std::uint8_t> frames = video.memory();
  std::ofstream out(path_, std::ios::binary);
  out.write(reinterpret_cast<const char*>(frames.data()), static_cast<std::streamsize>(frames.size()));
  out.close();
  if (!out) {
    std::filesystem::remove(path_);
    throw Error(ErrorKind::output, "C63-BENCH-OUTPUT", "cannot be written; it needs 1 GiB of free space",
                {.file = path_});
  }
  SourceOptions options{.path = path_, .format = SourceFormat::raw};
  options.width = video.format().width;
  options.height = video.format().height;
  file_ = open_frame_source(options);
}

FileVideo::~FileVideo() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
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

std::vector<std::uint8_t> read_frames(const std::string& file, int width, int height, int count) {
  std::ifstream in(file, std::ios::binary);
  const std::size_t size = frame_bytes(width, height);
  std::vector<std::uint8_t> frames(size * static_cast<std::size_t>(count));
  in.read(reinterpret_cast<char*>(frames.data()), static_cast<std::streamsize>(frames.size()));
  frames.resize(static_cast<std::size_t>(in.gcount()) / size * size);
  if (frames.empty()) throw Error(ErrorKind::input, "C63-BENCH-INPUT", file + ": no frame could be read");
  return frames;
}

}  // namespace c63::bench
