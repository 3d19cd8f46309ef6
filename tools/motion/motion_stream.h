#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/film_motion.h"
#include "io/input_file.h"
#include "encode/block_statistics.h"
#include "decode/stream_reader.h"

namespace c63::tools {

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

  /// Not null for a film, whose motion was searched. Its blocks have no bits, and a frame without a reference is a key
  /// frame.
  const FilmFrame* film = nullptr;
  bool full_range = false;  ///< of the samples, see FrameSource

  /// The vectors of a film's own codec, if they are wanted.
  [[nodiscard]] const CodecField* codec() const { return film != nullptr ? film->codec : nullptr; }
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
