#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "decode/stream_reader.h"

namespace c63 {

/// The positions of a stream's frames. The index is built only up to the frame that is asked for. Headers are checked
/// as a decoder checks them.
class StreamIndex {
 public:
  /// `source` must have random access and outlive the index.
  StreamIndex(ByteSource& source, const Limits& limits)
      : max_entries_(limits.max_memory / (2 * sizeof(FrameEntry))), reader_(source, limits, StreamPlace{}) {}

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
  /// Returns what a reader needs to begin at key frame `index`.
  [[nodiscard]] StreamPlace place(std::int64_t index) const;

 private:
  [[nodiscard]] bool find_next();
  [[nodiscard]] std::uint32_t number_of(const QuantizationTables& tables);

  std::uint64_t max_entries_;  ///< a limit for the memory of entries_, which may have room for twice as many
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
