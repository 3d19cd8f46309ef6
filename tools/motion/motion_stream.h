#pragma once

#include <array>
#include <cstdint>
#include <functional>
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
  std::vector<std::uint8_t> picture;     ///< linear layout; of a repeat, the picture shown before
  std::vector<std::uint8_t> prediction;  ///< linear layout
  /// Sum of absolute differences of each block between what was coded and its prediction, over the samples of the
  /// picture. What was coded is the source where there is one, else the reconstruction. Empty for repeats. Blocks without
  /// a vector have no prediction: their values say nothing, and nothing shows them.
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

  /// Bytes that what takes the frames needs next to them; for a width, a height. The limit covers them, too.
  void set_reserve(std::function<std::uint64_t(int, int)> reserve) { reserve_ = std::move(reserve); }

  /// The next frame, which stays until the next call; null at the end. A repeat keeps the picture of the frame before.
  /// Throws Error (input, limit) with file, frame and offset.
  [[nodiscard]] const MotionFrame* next();

 private:
  void require_memory(const Geometry& geometry) const;
  void decode(const StreamFrame& coded);

  std::string path_;
  std::unique_ptr<FrameSource> source_;
  std::unique_ptr<ByteSource> bytes_;
  StreamReader reader_;
  FrameDecoder decoder_;
  BlockAnalyser analyser_;
  std::vector<std::uint8_t> source_frame_;
  MotionFrame frame_;
  std::uint64_t max_memory_;
  std::function<std::uint64_t(int, int)> reserve_;
};

}  // namespace c63::tools
