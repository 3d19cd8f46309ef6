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

/// One decoded frame, with the values of its blocks.
struct MotionFrame {
  std::int64_t index = 0;
  FrameBlocks blocks;
  std::vector<std::uint8_t> picture;     ///< linear layout; for a repeat, the picture shown before
  std::vector<std::uint8_t> prediction;  ///< linear layout
  /// Sum of absolute differences of each block between the coded picture and its prediction, over the samples of the
  /// picture. The coded picture is the source if there is one, else the reconstruction. Empty for repeats. Blocks
  /// without a vector have no prediction: their values mean nothing, and nothing shows them.
  std::array<std::vector<std::uint32_t>, 3> sads;
  bool sad_of_source = false;
};

/// Returns true if the coded blocks are rectangles of the picture. The codec fills its planes, whose rows are padded to
/// multiples of 16, without regard to rows. So any other width is coded as a sheared picture.
[[nodiscard]] constexpr bool blocks_line_up(int width) { return width % 16 == 0; }

/// Returns the SADs of the 8x8 blocks of each coded plane of two frames in linear layout.
[[nodiscard]] std::array<std::vector<std::uint32_t>, 3> block_sads(std::span<const std::uint8_t> a,
                                                                   std::span<const std::uint8_t> b,
                                                                   const FrameBlocks& blocks);

/// Reads the frames of a coded stream one after another.
class MotionStream {
 public:
  /// `source` is the video that was encoded. It may be null.
  MotionStream(const std::string& path, std::unique_ptr<FrameSource> source, const Limits& limits);

  /// Sets the memory that the receiver of the frames needs besides them, for a width and a height. The limit covers it,
  /// too.
  void set_reserve(std::function<std::uint64_t(int, int)> reserve) { reserve_ = std::move(reserve); }

  /// Returns the next frame, valid until the next call, or null at the end. A repeat keeps the previous picture. Throws
  /// Error (input, limit) with file, frame and offset.
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
