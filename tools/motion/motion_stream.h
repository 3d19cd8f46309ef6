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
#include "io/input_file.h"
#include "encode/block_statistics.h"
#include "decode/stream_reader.h"

namespace c63::tools {

/// For each luma block, the vector that the film's own codec has used. Only vectors to earlier frames count.
struct CodecField {
  /// In units of 1/kUnits samples. Larger components are clamped to -32767..32767.
  struct Vector {
    std::int16_t x = 0;
    std::int16_t y = 0;
  };
  static constexpr int kUnits = 4;

  std::vector<Vector> vectors;
  std::vector<std::uint8_t> inter;  ///< 1: the block has a vector
  std::vector<std::uint32_t> sads;  ///< of the vectors, rounded to whole samples, measured in the frame's reference
};

/// A decoded frame, and the values of its blocks.
struct MotionFrame {
  std::int64_t index = 0;
  FrameBlocks blocks;
  std::vector<std::uint8_t> coded;       ///< the frame's bytes in the stream
  std::vector<std::uint8_t> picture;     ///< planes one after another; a repeat has the picture shown before
  std::vector<std::uint8_t> prediction;  ///< planes one after another
  /// For each plane, the SAD of each block between the coded picture and its prediction. The picture is the source if
  /// it is known, else the reconstruction. Only samples inside the picture count. Empty for repeats. Blocks without a
  /// vector have no prediction, so their values mean nothing and are not shown.
  std::array<std::vector<std::uint32_t>, 3> sads;
  bool sad_of_source = false;

  // True for a film, whose motion was searched. Its blocks have no bits, and a frame without a reference is a key
  // frame.
  bool film = false;
  bool full_range = false;              ///< of the samples, see FrameSource
  std::int64_t reference = -1;          ///< number of the frame in which the vectors were searched
  std::vector<std::uint16_t> seconds;   ///< see MotionResults; empty: not wanted
  std::vector<std::uint16_t> quarters;  ///< see MotionResults; empty: not wanted
  std::optional<CodecField> codec;      ///< if the codec's vectors are wanted
};

/// Returns true if the coded blocks are rectangles of the picture. The codec pads rows to multiples of 16, but fills
/// them with samples one after another. With any other width, the coded picture is sheared.
[[nodiscard]] constexpr bool blocks_line_up(int width) { return width % 16 == 0; }

/// Returns the SADs of the 8x8 blocks in each coded plane of two frames, whose planes lie one after another.
[[nodiscard]] std::array<std::vector<std::uint32_t>, 3> block_sads(std::span<const std::uint8_t> a,
                                                                   std::span<const std::uint8_t> b,
                                                                   const FrameBlocks& blocks);

/// Reads the frames of a coded stream one after another.
class MotionStream {
 public:
  /// `source` is the video that was encoded, or null if unknown.
  /// Reads from `file`, from which nothing may have been read before.
  MotionStream(std::unique_ptr<InputFile> file, std::unique_ptr<FrameSource> source, const Limits& limits);

  /// Sets a function that returns, for a width and height, how many bytes the user of the frames needs. They count
  /// towards the memory limit.
  void set_reserve(std::function<std::uint64_t(int, int)> reserve) { reserve_ = std::move(reserve); }

  /// Returns the next frame, valid until the next call; null at the end. A repeat has the previous picture. Throws
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
