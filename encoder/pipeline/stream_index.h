#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "pipeline/stream_reader.h"

namespace c63 {

/// Reads a random-access source from a given place on.
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

/// The places of a stream's frames. It is built only up to the requested frame. Headers are checked as a decoder checks
/// them.
class StreamIndex {
 public:
  /// `source` has random access and outlives the index.
  StreamIndex(ByteSource& source, const Limits& limits, bool on_threads)
      : max_entries_(limits.max_memory / (2 * sizeof(FrameEntry))), source_(source, 0), reader_(source_, limits, kChunk) {
    if (on_threads) reader_.use_threads();
  }

  /// Looks for frame `index`. Returns false if there is none.
  [[nodiscard]] bool find(std::int64_t index);
  /// Looks for all frames.
  void find_all() { static_cast<void>(find(INT64_MAX)); }

  [[nodiscard]] const std::vector<FrameEntry>& entries() const { return entries_; }
  /// Returns the error at which the index ends before the stream does, or null.
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }
  /// Returns the size of the pictures; nullopt if no frame was found.
  [[nodiscard]] const std::optional<Geometry>& geometry() const { return geometry_; }
  [[nodiscard]] const QuantizationTables& tables(std::uint32_t number) const { return *tables_.at(number); }

  /// Returns the last key frame up to frame `index`, which was found.
  [[nodiscard]] std::int64_t key_frame_of(std::int64_t index) const;
  /// Returns what decoding needs to begin at key frame `index`, which is not the first.
  [[nodiscard]] StreamPlace place(std::int64_t index) const;

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 20;  ///< bytes that several threads read at a time

  [[nodiscard]] bool find_next();
  [[nodiscard]] std::uint32_t number_of(const QuantizationTables& tables);

  std::uint64_t max_entries_;  ///< a vector that grows has room for twice as many
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
