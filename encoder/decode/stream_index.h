#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "decode/stream_reader.h"

namespace c63 {

/// Reads a source with random access as a sequence, from an offset on.
class SourceFrom final : public ByteSource {
 public:
  SourceFrom(ByteSource& source, std::uint64_t offset) : source_(source), next_(offset) {}
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = source_.read_at(next_, bytes);
    next_ += count;
    return count;
  }

 private:
  ByteSource& source_;
  std::uint64_t next_;
};

/// The positions of a stream's frames. The index is built only up to the frame that is asked for. Headers are checked
/// as a decoder checks them.
class StreamIndex {
 public:
  /// `source` must have random access and outlive the index. If `on_threads` is true, several threads search for
  /// markers.
  StreamIndex(ByteSource& source, const Limits& limits, bool on_threads)
      : max_entries_(limits.max_memory / (2 * sizeof(FrameEntry))), source_(source, 0), reader_(source_, limits, kChunk) {
    if (on_threads) reader_.use_threads();
  }

  /// Extends the index to frame `index`. Returns false if there is no such frame.
  [[nodiscard]] bool find(std::int64_t index);
  /// Looks for all frames.
  void find_all() { static_cast<void>(find(INT64_MAX)); }

  [[nodiscard]] const std::vector<FrameEntry>& entries() const { return entries_; }
  /// Returns the error before which the index ends; empty if the index reached the end of the stream, or has not
  /// reached an error yet.
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }
  /// Returns the size of the pictures; nullopt if no frame was found.
  [[nodiscard]] const std::optional<Geometry>& geometry() const { return geometry_; }
  [[nodiscard]] const QuantizationTables& tables(std::uint32_t number) const { return *tables_.at(number); }

  /// Returns the last key frame that is not after frame `index`, which must have been found.
  [[nodiscard]] std::int64_t key_frame_of(std::int64_t index) const;
  /// Returns what a reader needs to begin at key frame `index`, which must not be the first frame.
  [[nodiscard]] StreamPlace place(std::int64_t index) const;

 private:
  /// The number of bytes that are read at a time. If the index uses threads, they search these bytes for markers at the
  /// same time.
  static constexpr std::size_t kChunk = std::size_t{1} << 20;

  [[nodiscard]] bool find_next();
  [[nodiscard]] std::uint32_t number_of(const QuantizationTables& tables);

  std::uint64_t max_entries_;  ///< a limit for the memory of entries_, which may have room for twice as many
  SourceFrom source_;
  StreamReader reader_;
  bool ended_ = false;
  std::optional<Error> fault_;
  std::optional<Geometry> geometry_;
  std::vector<FrameEntry> entries_;
  std::vector<std::int64_t> key_frames_;
  std::map<QuantizationTables, std::uint32_t> numbers_;
  std::vector<const QuantizationTables*> tables_;  ///< by number
};

}  // namespace c63
