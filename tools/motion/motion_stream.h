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
#include "io/byte_source.h"
#include "pipeline/block_statistics.h"
#include "pipeline/stream_reader.h"

namespace c63::tools {

/// The vectors that a film's own codec has, for each luma block: those from earlier frames.
struct CodecField {
  /// In units of 1/kUnits samples; the largest magnitudes that fit for those beyond.
  struct Vector {
    std::int16_t x = 0;
    std::int16_t y = 0;
  };
  static constexpr int kUnits = 4;

  std::vector<Vector> vectors;
  std::vector<std::uint8_t> inter;  ///< 1: the block has a vector
  std::vector<std::uint32_t> sads;  ///< of the vectors, rounded to whole samples, in the frame's reference
};

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

  // Of films, whose motion is searched. Then blocks have no bits, and a frame without a reference is a key frame.
  bool film = false;
  std::int64_t reference = -1;          ///< the frame that was searched
  std::vector<std::uint16_t> seconds;   ///< see MotionResults; empty where not wanted
  std::vector<std::uint16_t> quarters;  ///< see MotionResults; empty where not wanted
  std::optional<CodecField> codec;      ///< where it is wanted
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
  /// The same for an input from which nothing has been read.
  MotionStream(std::unique_ptr<InputFile> file, std::unique_ptr<FrameSource> source, const Limits& limits);

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
