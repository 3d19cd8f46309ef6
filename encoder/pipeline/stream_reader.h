#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bitstream/frame_header.h"
#include "c63/decoder.h"

namespace c63 {

/// A coded frame with its bytes and its place in the stream.
struct StreamFrame {
  std::int64_t index = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> bytes;
  ParsedFrame parsed;  ///< its scan points into `bytes`
};

/// The error of a frame, placed in its stream.
[[nodiscard]] Error in_stream(const Error& error, const StreamFrame& frame);

/// A key frame in mid-stream, to begin with.
struct StreamPlace {
  std::int64_t index = 0;
  std::uint64_t offset = 0;
  Geometry geometry;          ///< of the frames before it
  QuantizationTables tables;  ///< the last ones before it
};

/// Cuts a stream into its frames, reading no further than it must.
class StreamReader {
 public:
  static constexpr std::size_t kChunk = std::size_t{1} << 17;  ///< bytes that are read at a time

  StreamReader(ByteSource& source, Limits limits, std::size_t chunk = kChunk)
      : source_(source), max_memory_(limits.max_memory), chunk_(chunk), parser_(limits) {}
  /// `source` begins with the frame at `place`.
  StreamReader(ByteSource& source, Limits limits, const StreamPlace& place)
      : source_(source), max_memory_(limits.max_memory), parser_(limits, place.geometry, place.tables),
        index_(place.index), offset_(place.offset) {}

  /// Has several threads look through chunks, which should be large.
  void use_threads() { finds_markers_ = true; }

  /// The next frame; nothing at the end. Throws Error (input, limit) with frame and offset in the stream.
  [[nodiscard]] std::optional<StreamFrame> next();
  /// The same without its bytes: the scan points to nothing.
  [[nodiscard]] std::optional<StreamFrame> pass();

  /// Takes memory for the bytes of a frame to come: memory that is new has to be filled in by the system, page by page.
  void reuse(std::vector<std::uint8_t>&& memory) {
    if (memory.capacity() > 0) spare_.push_back(std::move(memory));
  }

  /// Passes over the repeat frames that come next, `most` at most and as far as they are in memory already, and returns how
  /// many they are.
  [[nodiscard]] std::int64_t take_repeats(std::int64_t most = INT64_MAX);

  /// The number of the next frame.
  [[nodiscard]] std::int64_t index() const { return index_; }
  /// Bytes of the stream read and understood so far.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  std::optional<StreamFrame> take(bool with_bytes);
  bool read_more();
  void find_markers_from(std::size_t first);

  ByteSource& source_;
  std::uint64_t max_memory_;
  std::size_t chunk_ = kChunk;
  FrameParser parser_;
  std::vector<std::uint8_t> buffer_;
  std::vector<std::vector<std::uint8_t>> spare_;
  bool finds_markers_ = false;
  std::vector<std::size_t> markers_;  ///< in buffer_, if finds_markers_
  std::size_t begin_ = 0;  ///< of the next frame in buffer_
  std::size_t end_ = 0;    ///< of the bytes in buffer_
  bool ended_ = false;
  std::int64_t index_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace c63
