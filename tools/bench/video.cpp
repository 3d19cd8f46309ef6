#include "bench/video.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "c63/error.h"
#include "c63/thread_pool.h"
#include "io/source_parts.h"

namespace c63::bench {
LumaVideo::LumaVideo(std::string name_, const Geometry& geometry, std::span<const std::uint8_t> all)
    : name(std::move(name_)), width(geometry.padded_width()), height(geometry.padded_height()) {
  for (std::size_t at = 0; at < all.size(); at += geometry.frame_bytes()) {
    std::vector<std::uint8_t>& luma = frames.emplace_back(geometry.plane(0).samples());
    std::ranges::copy(all.subspan(at, geometry.plane(0).coded_samples), luma.begin());
  }
  if (frames.size() < 2) throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "has fewer than two frames", {.file = name});
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

std::vector<std::uint8_t> generated_frames(Pattern pattern, int width, int height, int count) {
  SequenceGenerator generator({.pattern = pattern, .width = width, .height = height, .frames = count});
  const std::size_t size = frame_bytes(width, height);
  std::vector<std::uint8_t> frames(size * static_cast<std::size_t>(count));
  parallel_for(count, [&](std::int64_t i) {
    static_cast<void>(generator.read(i, std::span(frames).subspan(static_cast<std::size_t>(i) * size, size)));
  });
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
