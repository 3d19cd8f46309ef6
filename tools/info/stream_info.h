#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bitstream/frame_header.h"
#include "c63/picture.h"
#include "c63/settings.h"
#include "codec/quantization.h"
#include "decode/stream_reader.h"
#include "encode/block_statistics.h"

namespace c63::tools {

/// What the quantization tables of a frame tell about the encoder that wrote them.
struct TablesInfo {
  enum class Shape { course, flat, other };
  Shape shape = Shape::other;
  int flat_step = 0;  ///< the step, if the shape is flat
  /// The lowest and the highest qp that give these tables, in tenths; empty if no qp does.
  std::optional<std::pair<int, int>> qp_tenths = {};
};

/// Properties of a stream that depend on the preset with which it was encoded.
struct PresetMarks {
  std::set<QuantizationTables> tables;  ///< at most kMostTables
  bool has_more_tables = false;
  bool compact_headers = false;  ///< some frame lacks a segment that the course encoder writes in every frame
  std::int64_t replacing = 0;    ///< inter frames with the same reference as the previous frame
  std::int64_t repeats = 0;
  std::uint64_t unpredicted = 0;  ///< blocks of inter frames that have no vector; 0 if that was not examined

  static constexpr std::size_t kMostTables = 256;

  void add(const ParsedFrame& frame);
  [[nodiscard]] bool has_course_tables() const;
  /// Returns true if preset `best` would use these tables for key frames. It makes them from flat tables, so the stream
  /// must have those flat tables, too.
  [[nodiscard]] bool is_finer(const QuantizationTables& frame_tables) const;
  /// Returns the presets that may have made the stream, if nothing but the preset was set.
  [[nodiscard]] std::vector<Preset> presets() const;
};

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
