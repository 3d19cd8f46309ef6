#include "pictures/picture_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "c63/error.h"
#include "c63/picture.h"
#include "common/text.h"
#include "io/media_module.h"
#include "files/output_file.h"

namespace c63::tools {
namespace {

/// Calls `take` with the picture encoded as PNG.
void encode_as_png(const Image& image, const std::function<void(std::span<const std::uint8_t>)>& take) {
  ffmpeg_module().encode(PictureCode::png, image.bytes(), image.width(), image.height(), 0, take);
}

/// Calls `encode` with a function that takes the encoded bytes. Returns a copy of these bytes.
template <typename Encode>
std::vector<std::uint8_t> copied(const Encode& encode) {
  std::vector<std::uint8_t> bytes;
  encode([&](std::span<const std::uint8_t> all) { bytes.assign(all.begin(), all.end()); });
  return bytes;
}

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

/// Encodes a picture as JPEG. `quality` is 2 (best) to 31. `sample(plane, x, y)` returns a sample.
template <typename SampleAt>
std::vector<std::uint8_t> encode_as_jpeg(int width, int height, int quality, const SampleAt& sample) {
  std::vector<std::uint8_t> planes;
  for (int p = 0; p < 3; ++p) {
    const int columns = p == 0 ? width : (width + 1) / 2;
    const int rows = p == 0 ? height : (height + 1) / 2;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) planes.push_back(sample(p, x, y));
    }
  }
  return copied([&](const auto& take) { ffmpeg_module().encode(PictureCode::jpeg, planes, width, height, quality, take); });
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

bool can_write_png() {
  try {
    require_png();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return false;
  }
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  return copied([&](const auto& take) { encode_as_png(image, take); });
}

std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> samples, int width, int height, bool full_range) {
  const int quality = width * height < 500'000 ? 5 : 9;  // larger pictures are viewed from further away
  static const auto kLuma = stretched(16, 219, 0);
  static const auto kChroma = stretched(128, 224, 128);
  const auto planes = split_planes(samples, width, height);
  const bool colour = width % 2 == 0 && height % 2 == 0;
  return encode_as_jpeg(width, height, quality, [&](int plane, int x, int y) -> std::uint8_t {
    if (plane > 0 && !colour) return 128;
    const int columns = plane == 0 ? width : width / 2;
    const std::uint8_t sample = planes[static_cast<std::size_t>(plane)][static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x)];
    return full_range ? sample : plane == 0 ? kLuma[sample] : kChroma[sample];
  });
}

std::vector<std::uint8_t> encode_jpeg(const Image& image, std::size_t most_bytes) {
  // The weights of R, G and B for JFIF's Y, Cb and Cr, in 256ths. A chroma sample is the mean of up to four pixels.
  const auto value = [&](int plane, int x, int y) {
    static constexpr std::array<std::array<int, 3>, 3> kWeights = {{{77, 150, 29}, {-43, -85, 128}, {128, -107, -21}}};
    const Colour c = image.at(x, y);
    const auto& w = kWeights[static_cast<std::size_t>(plane)];
    return w[0] * c[0] + w[1] * c[1] + w[2] * c[2];
  };
  const auto sample = [&](int plane, int x, int y) {
    if (plane == 0) return static_cast<std::uint8_t>(value(0, x, y) >> 8);
    const int right = std::min(2 * x + 1, image.width() - 1);
    const int below = std::min(2 * y + 1, image.height() - 1);
    const int sum = value(plane, 2 * x, 2 * y) + value(plane, right, 2 * y) + value(plane, 2 * x, below) + value(plane, right, below);
    return static_cast<std::uint8_t>(std::clamp(128 + sum / 1024, 0, 255));
  };
  std::vector<std::uint8_t> jpeg;
  for (const int quality : {3, 4, 6, 9, 13, 19, 31}) {
    jpeg = encode_as_jpeg(image.width(), image.height(), quality, sample);
    if (jpeg.size() <= most_bytes) break;
  }
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
    encode_as_png(image, [&](std::span<const std::uint8_t> bytes) { file.write(bytes); });
  }
  file.commit();
}

std::string data_uri(const std::string& kind, const std::vector<std::uint8_t>& picture) {
  return "data:image/" + kind + ";base64," + base64(picture);
}

}  // namespace c63::tools
