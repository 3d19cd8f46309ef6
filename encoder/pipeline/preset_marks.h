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

namespace c63 {

/// The quantization tables of a frame, described by the encoder that writes such tables.
struct TablesInfo {
  enum class Shape { course, flat, other };
  Shape shape = Shape::other;
  int flat_step = 0;  ///< if flat
  /// The lowest and the highest qp that gives these tables, in tenths; empty if none does.
  std::optional<std::pair<int, int>> qp_tenths = {};
};

[[nodiscard]] TablesInfo describe_tables(const QuantizationTables& tables);

/// What in a stream depends on the preset that it was encoded with.
struct PresetMarks {
  std::set<QuantizationTables> tables;  ///< no more than kMostTables
  bool has_more_tables = false;
  bool compact_headers = false;  ///< some frame lacks a segment that the course encoder writes in every frame
  std::int64_t replacing = 0;    ///< inter frames with the reference of the previous frame
  std::int64_t repeats = 0;
  std::uint64_t unpredicted = 0;  ///< blocks of inter frames without a vector; 0 if nobody looked

  static constexpr std::size_t kMostTables = 256;

  void add(const ParsedFrame& frame);
  [[nodiscard]] bool has_course_tables() const;
  /// Returns true for tables that preset best gives key frames next to the flat tables of the other frames.
  [[nodiscard]] bool is_finer(const QuantizationTables& frame_tables) const;
  /// The presets that write streams with these marks, without further options.
  [[nodiscard]] std::vector<Preset> presets() const;
};

}  // namespace c63
