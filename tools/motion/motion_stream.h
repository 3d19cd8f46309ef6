#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "pipeline/block_statistics.h"
#include "pipeline/stream_reader.h"

namespace c63::tools {

/// One decoded frame with what is known of its blocks.
struct MotionFrame {
  std::int64_t index = 0;
  FrameBlocks blocks;
  std::vector<std::uint8_t> picture;     ///< linear layout
  std::vector<std::uint8_t> prediction;  ///< linear layout
  /// Sum of absolute differences of each block between what was coded and its prediction, over the samples of the
  /// picture. What was coded is the source where there is one, else the reconstruction. Empty for repeats.
  std::array<std::vector<std::uint32_t>, 3> sads;
  bool sad_of_source = false;
};

/// True where the coded blocks are rectangles of the picture. The codec fills its planes, whose rows are padded to
/// multiples of 16, without regard to rows, so that any other width is coded as a sheared picture.
[[nodiscard]] constexpr bool blocks_line_up(int width) { return width % 16 == 0; }

/// SADs of the 8x8 blocks of each coded plane of two frames in linear layout.
[[nodiscard]] std::array<std::vector<std::uint32_t>, 3> block_sads(std::span<const std::uint8_t> a,
                                                                   std::span<const std::uint8_t> b,
                                                                   const FrameBlocks& blocks);

/// Reads the frames of a coded stream one after another.
class MotionStream {
 public:
  /// `source` is what was encoded, and may be null.
  MotionStream(const std::string& path, std::unique_ptr<FrameSource> source, const Limits& limits);

  /// Nothing at the end. Throws Error (input, limit) with file, frame and offset.
  [[nodiscard]] std::optional<MotionFrame> next();

 private:
  std::string path_;
  std::unique_ptr<FrameSource> source_;
  std::unique_ptr<ByteSource> bytes_;
  StreamReader reader_;
  FrameDecoder decoder_;
  BlockAnalyser analyser_;
  std::vector<std::uint8_t> source_frame_;
};

}  // namespace c63::tools
