#include "motion/yuview.h"

#include <fmt/format.h>

#include <algorithm>

#include "motion/motion_stream.h"

namespace c63::tools {
namespace {

// Ids of the types, and the upper ends of their colour scales. Most values are lower; YUView shows higher values in the
// last colour.
constexpr int kVector = 0;
constexpr int kSad = 1;
constexpr int kBits = 2;
constexpr int kIntra = 3;
constexpr int kCodecVector = 4;
constexpr int kSadScale = 2048;
constexpr int kBitsScale = 256;

/// Replaces characters that a field of the format must not contain: its separator and control characters.
std::string field(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == ';' || static_cast<unsigned char>(c) < ' '; }, '_');
  return text;
}

template <typename Value>
void add_rows(TextFile& file, std::int64_t frame, const PlaneBlocks& luma, int width, int height, int type, Value&& value) {
  for (int row = 0; row < luma.rows; ++row) {
    for (int column = 0; column < luma.columns; ++column) {
      const int x = column * 8;
      const int y = row * 8;
      const std::size_t block = static_cast<std::size_t>(row) * luma.columns + column;
      if (x >= width || y >= height) continue;  // the block has only padding
      if ((type == kVector || type == kSad || type == kCodecVector) && luma.inter[block] == 0) continue;
      file.add("{};{};{};{};{};{};{}\n", frame, x, y, std::min(8, width - x), std::min(8, height - y), type, value(block));
    }
  }
}

}  // namespace

YuviewWriter::YuviewWriter(const std::string& path, const std::string& name, const VideoFormat& format, BlockTypes types,
                           Writing writing)
    : file_(path, writing),
      types_(types),
      width_(types.film ? format.width : (format.width + 15) / 16 * 16),
      height_(types.film || blocks_line_up(format.width) ? format.height : (format.height + 15) / 16 * 16) {
  std::string header = "%;syntax-version;v1.2\n";
  header += fmt::format("%;seq-specs;{};0;{};{};{:.6g};\n", field(name), width_, height_, format.rate.value());
  if (types.vectors) {
    header += fmt::format("%;type;{};MV;vector;\n%;vectorColor;40;220;60;255\n%;scaleFactor;1\n", kVector);
    header += fmt::format("%;type;{};Intra;range;\n%;defaultRange;0;1;jet\n%;gridColor;255;255;255;\n", kIntra);
  }
  if (types.codec_vectors) {
    header += fmt::format("%;type;{};Codec MV;vector;\n%;vectorColor;255;140;0;255\n%;scaleFactor;{}\n", kCodecVector, CodecField::kUnits);
  }
  if (types.sads) {
    header += fmt::format("%;type;{};SAD;range;\n%;defaultRange;0;{};jet\n%;gridColor;255;255;255;\n", kSad, kSadScale);
  }
  if (types.bits) {
    header += fmt::format("%;type;{};Bits;range;\n%;defaultRange;0;{};jet\n%;gridColor;255;255;255;\n", kBits, kBitsScale);
  }
  file_.add("{}", header);
  file_.flush();  // so an unwritable file is found before any frame is coded or read
}

void YuviewWriter::add(std::int64_t frame, const FrameBlocks& blocks, std::span<const std::uint32_t> sads,
                       const CodecField* codec) {
  const PlaneBlocks& luma = blocks.planes[0];
  if (types_.vectors) {
    add_rows(file_, frame, luma, width_, height_, kVector, [&](std::size_t i) { return fmt::format("{};{}", luma.vectors[i].x, luma.vectors[i].y); });
    add_rows(file_, frame, luma, width_, height_, kIntra, [&](std::size_t i) { return fmt::format("{};", 1 - luma.inter[i]); });
  }
  if (codec != nullptr) {
    PlaneBlocks own = luma;
    own.inter = codec->inter;
    add_rows(file_, frame, own, width_, height_, kCodecVector,
             [&](std::size_t i) { return fmt::format("{};{}", codec->vectors[i].x, codec->vectors[i].y); });
  }
  if (types_.sads && !sads.empty()) {
    add_rows(file_, frame, luma, width_, height_, kSad, [&](std::size_t i) { return fmt::format("{};", sads[i]); });
  }
  if (types_.bits) {
    add_rows(file_, frame, luma, width_, height_, kBits, [&](std::size_t i) { return fmt::format("{};", luma.motion_bits[i] + luma.coefficient_bits[i]); });
  }
  file_.flush();
}

}  // namespace c63::tools
