#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "pipeline/stream_reader.h"

namespace c63 {

/// Reads a source that can be read anywhere as one that begins at a place.
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

/// Where the frames of a stream lie, found as far as they are asked for. Headers are checked as a decoder checks them.
class StreamIndex {
 public:
  /// `source` can be read anywhere, and outlives this.
  StreamIndex(ByteSource& source, const Limits& limits, bool on_threads)
      : max_entries_(limits.max_memory / (2 * sizeof(FrameEntry))), source_(source, 0), reader_(source_, limits, kChunk) {
    if (on_threads) reader_.use_threads();
  }

  /// Looks for frame `index`; false where there is none.
  [[nodiscard]] bool find(std::int64_t index);
  /// Looks for all of them.
  void find_all() { static_cast<void>(find(INT64_MAX)); }

  [[nodiscard]] const std::vector<FrameEntry>& entries() const { return entries_; }
  /// Why it ends before the stream does.
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }
  /// Of the pictures; nothing where no frame was found.
  [[nodiscard]] const std::optional<Geometry>& geometry() const { return geometry_; }
  [[nodiscard]] const QuantizationTables& tables(std::uint32_t number) const { return *tables_.at(number); }

  /// The last key frame up to frame `index`, which was found.
  [[nodiscard]] std::int64_t key_frame_of(std::int64_t index) const;
  /// What decoding needs to begin with key frame `index`, which is not the first.
  [[nodiscard]] StreamPlace place(std::int64_t index) const;

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 20;  ///< what several threads read

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
