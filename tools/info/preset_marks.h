#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bitstream/frame_header.h"
#include "c63/settings.h"
#include "codec/quantization.h"

namespace c63::tools {

/// What the quantization tables of a frame tell about the encoder that wrote them.
struct TablesInfo {
  enum class Shape { course, flat, other };
  Shape shape = Shape::other;
  int flat_step = 0;  ///< the step, if the shape is flat
  /// The lowest and the highest qp that give these tables, in tenths; empty if no qp does.
  std::optional<std::pair<int, int>> qp_tenths = {};
};

[[nodiscard]] TablesInfo describe_tables(const QuantizationTables& tables);

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

}  // namespace c63::tools
