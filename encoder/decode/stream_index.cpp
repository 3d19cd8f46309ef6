#include "decode/stream_index.h"

#include <algorithm>
#include <new>
#include <string>

namespace c63 {

bool StreamIndex::find(std::int64_t index) {
  while (static_cast<std::int64_t>(entries_.size()) <= index) {
    if (!find_next()) return false;
  }
  return true;
}

bool StreamIndex::find_next() {
  if (ended_) return false;
  try {
    const std::optional<StreamFrame> frame = reader_.pass();
    ended_ = !frame;
    if (!frame) return false;
    if (entries_.size() >= max_entries_) {
      throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                  "an index of more than " + std::to_string(entries_.size()) + " frames exceeds the memory limit (--max-memory)",
                  {.frame = frame->index, .offset = static_cast<std::int64_t>(frame->offset)});
    }
    const ParsedFrame& parsed = frame->parsed;
    geometry_ = parsed.geometry;
    if (parsed.key) key_frames_.push_back(frame->index);
    entries_.push_back({.offset = frame->offset,
                        .bytes = parsed.size,
                        .key = parsed.key,
                        .repeat = parsed.repeat,
                        .advances_reference = parsed.advances_reference,
                        .tables = number_of(parsed.tables)});
    return true;
  } catch (const Error& error) {
    fault_ = error;
  } catch (const std::bad_alloc&) {
    // The reader has already passed this frame, and the frame is not in the index. If the index went on later, the
    // numbers of all later frames would be wrong.
    fault_ = Error(ErrorKind::memory, "C63-MEMORY", "not enough memory for an index of the stream");
  }
  ended_ = true;
  return false;
}

std::uint32_t StreamIndex::number_of(const QuantizationTables& tables) {
  if (!entries_.empty() && *tables_[entries_.back().tables] == tables) return entries_.back().tables;
  const auto [entry, is_new] = numbers_.emplace(tables, static_cast<std::uint32_t>(tables_.size()));
  if (is_new) tables_.push_back(&entry->first);
  return entry->second;
}

std::int64_t StreamIndex::key_frame_of(std::int64_t index) const {
  return *std::prev(std::ranges::upper_bound(key_frames_, index));
}

StreamPlace StreamIndex::place(std::int64_t index) const {
  if (index == 0) return {};
  const auto at = static_cast<std::size_t>(index);
  return {index, entries_[at].offset, *geometry_, tables(entries_[at - 1].tables)};
}

}  // namespace c63
