#include "pictures/picture_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "c63/error.h"
#include "c63/picture.h"
#include "io/media_module.h"
#include "files/output_file.h"

namespace c63::tools {
namespace {

/// Returns a table that converts samples of video range to JPEG's range 0..255. `middle` becomes `to_middle`, and
/// `levels` input values are stretched to 255.
std::array<std::uint8_t, 256> stretched(int middle, int levels, int to_middle) {
  std::array<std::uint8_t, 256> table{};
  for (int v = 0; v < 256; ++v) {
    table[static_cast<std::size_t>(v)] =
        static_cast<std::uint8_t>(std::clamp(to_middle + ((v - middle) * 510 + levels) / (2 * levels), 0, 255));
  }
  return table;
}

}  // namespace

void require_png() {
  const std::vector<std::uint8_t> grey(std::size_t{16} * 16 * 3, 128);
  try {
    for (const PictureCode code : {PictureCode::png, PictureCode::jpeg}) {
      ffmpeg_module().encode(code, grey, 16, 16, 2, [](std::span<const std::uint8_t>) {});
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) throw;
    throw Error(ErrorKind::usage, "C63-NO-PNG", "cannot write PNG and JPEG (write .ppm): " + error.message());
  }
}

std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> samples, int width, int height, bool full_range) {
  const int quality = width * height < 500'000 ? 5 : 9;  // larger pictures are viewed from further away
  static const auto kLuma = stretched(16, 219, 0);
  static const auto kChroma = stretched(128, 224, 128);
  const auto planes = split_planes(samples, width, height);
  const bool colour = width % 2 == 0 && height % 2 == 0;
  std::vector<std::uint8_t> all(planes[0].begin(), planes[0].end());
  if (colour) {
    all.insert(all.end(), planes[1].begin(), planes[1].end());
    all.insert(all.end(), planes[2].begin(), planes[2].end());
  } else {
    all.resize(all.size() + 2 * static_cast<std::size_t>((width + 1) / 2) * static_cast<std::size_t>((height + 1) / 2), 128);
  }
  for (std::size_t i = 0; i < all.size() && !full_range; ++i) {
    all[i] = i < planes[0].size() ? kLuma[all[i]] : kChroma[all[i]];  // of chroma, 128 stays 128
  }
  std::vector<std::uint8_t> jpeg;
  ffmpeg_module().encode(PictureCode::jpeg, all, width, height, quality,
                         [&](std::span<const std::uint8_t> bytes) { jpeg.assign(bytes.begin(), bytes.end()); });
  return jpeg;
}

void check_picture_name(const std::string& path) {
  if (path.ends_with(".ppm")) return;
  if (!path.ends_with(".png")) {
    throw Error(ErrorKind::usage, "C63-PICTURE-NAME", "pictures are written as .png or .ppm, by their name", {.file = path});
  }
  try {
    require_png();
  } catch (const Error& error) {
    throw error.at({.file = path});
  }
}

std::uint64_t memory_to_save(const std::string& path, std::uint64_t image_bytes) {
  // PNG: FFmpeg's input picture and its output packet. Deflate can make data larger by only a few bytes per block.
  return path.ends_with(".ppm") ? 0 : 2 * (image_bytes + image_bytes / 64);
}

void save_picture(const std::string& path, const Image& image, Durability durability) {
  check_picture_name(path);
  OutputFile file(path, durability);
  if (path.ends_with(".ppm")) {
    file.write(fmt::format("P6\n{} {}\n255\n", image.width(), image.height()));
    file.write(image.bytes());
  } else {
    ffmpeg_module().encode(PictureCode::png, image.bytes(), image.width(), image.height(), 0,
                           [&](std::span<const std::uint8_t> bytes) { file.write(bytes); });
  }
  file.commit();
}

}  // namespace c63::tools
