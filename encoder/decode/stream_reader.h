#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bitstream/frame_header.h"
#include "bitstream/stream_frame.h"
#include "c63/decoder.h"

namespace c63 {

/// A stream in memory that the caller owns.
class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = read_at(next_, bytes);
    next_ += count;
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return bytes_.size(); }
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) override {
    if (offset >= bytes_.size()) return 0;
    const std::size_t count = std::min<std::uint64_t>(bytes.size(), bytes_.size() - offset);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count, bytes.begin());
    return count;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::uint64_t next_ = 0;
};

/// A key frame at which decoding may begin, with the size and tables that earlier frames have set.
struct StreamPlace {
  std::int64_t index = 0;
  std::uint64_t offset = 0;
  std::optional<Geometry> geometry;          ///< size of the frames before it; empty at the start of the stream
  std::optional<QuantizationTables> tables;  ///< last quantization tables before it
};

/// Splits a stream into frames. It reads no further than the current frame and the rest of its chunk.
class StreamReader {
 public:
  static constexpr std::size_t kChunk = std::size_t{1} << 17;  ///< bytes that are read at a time

  /// Reads the source in order, which may be a pipe.
  StreamReader(ByteSource& source, Limits limits)
      : source_(source), max_memory_(limits.max_memory), parser_(limits) {}
  /// Reads a source with random access from the frame at `place` on.
  StreamReader(ByteSource& source, Limits limits, const StreamPlace& place)
      : source_(source), by_offset_(true), max_memory_(limits.max_memory), parser_(limits, place.geometry, place.tables),
        index_(place.index), offset_(place.offset) {}

  /// Returns the next frame; nullopt at the end. Throws Error (input, limit) with the frame's index and the offset in
  /// the stream.
  [[nodiscard]] std::optional<StreamFrame> next() { return take(/*with_bytes=*/true); }
  /// Does what next() does, but the returned frame has no bytes and an empty scan.
  [[nodiscard]] std::optional<StreamFrame> pass() { return take(/*with_bytes=*/false); }

  /// Takes memory that is used for the bytes of later frames. Reusing memory is faster, because the system fills new
  /// memory page by page.
  void reuse(std::vector<std::uint8_t>&& memory) {
    if (memory.capacity() > 0) spare_.push_back(std::move(memory));
  }

  /// Skips the repeat frames that come next and are already in memory, at most `most`. Returns their number.
  [[nodiscard]] std::int64_t take_repeats(std::int64_t most = INT64_MAX);

  /// Returns the index of the next frame.
  [[nodiscard]] std::int64_t index() const { return index_; }
  /// Returns the number of bytes of the stream before the next frame.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  std::optional<StreamFrame> take(bool with_bytes);
  bool read_more();

  ByteSource& source_;
  bool by_offset_ = false;  ///< reads with read_at(), so several readers can share the source
  std::uint64_t max_memory_;
  FrameParser parser_;
  std::vector<std::uint8_t> buffer_;
  std::vector<std::vector<std::uint8_t>> spare_;
  std::size_t begin_ = 0;  ///< offset in buffer_ of the next frame
  std::size_t end_ = 0;    ///< end of the valid bytes in buffer_
  bool ended_ = false;
  std::int64_t index_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace c63
