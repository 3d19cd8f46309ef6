#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "c63/picture.h"
#include "encode/block_statistics.h"
#include "info/preset_marks.h"
#include "decode/stream_reader.h"

namespace c63::tools {

/// The count, sum, smallest and largest of some values.
struct ValueRange {
  std::int64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t smallest = 0;
  std::uint64_t largest = 0;

  void add(std::uint64_t value);
  [[nodiscard]] double mean() const { return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count); }
};

/// A group of pictures: a key frame, and the frames after it that come before the next key frame.
struct GopInfo {
  std::int64_t first_frame = 0;
  std::int64_t frames = 0;
  std::uint64_t bytes = 0;
};

/// Collects facts about a stream, frame by frame. Its memory does not grow with the stream.
class StreamInfo {
 public:
  /// Adds the next frame. `blocks` is null if only headers are read. If the frame begins a new GOP, returns the
  /// previous GOP.
  std::optional<GopInfo> add(const StreamFrame& frame, const FrameBlocks* blocks);
  /// Ends the last GOP and returns it. Returns nothing for an empty stream.
  std::optional<GopInfo> finish();

  [[nodiscard]] std::int64_t frames() const { return frames_; }
  /// Returns the lines that c63info prints.
  [[nodiscard]] std::vector<std::string> lines(const std::string& name, const std::optional<FrameRate>& rate) const;
  [[nodiscard]] nlohmann::ordered_json json(const std::optional<FrameRate>& rate) const;

 private:
  enum Kind { key, inter, replacing, repeat, kKinds };

  std::optional<GopInfo> end_gop();

  int width_ = 0;
  int height_ = 0;
  std::int64_t frames_ = 0;
  std::uint64_t bytes_ = 0;
  std::array<ValueRange, kKinds> kinds_;  // bytes per frame, of each kind
  ValueRange gop_frames_;
  ValueRange gop_bytes_;
  std::optional<GopInfo> gop_;
  PresetMarks marks_;
  std::optional<KindBits> bits_;
  std::uint64_t blocks_ = 0;     // blocks in inter frames
  std::uint64_t predicted_ = 0;  // blocks among them that have a vector
  std::uint64_t empty_ = 0;      // blocks of all frames in which all levels are zero
  std::uint64_t all_blocks_ = 0;
};

}  // namespace c63::tools
