#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "c63/settings.h"
#include "codec/quantization.h"

namespace c63::tools {

/// The kinds of quantization tables that an encoder here writes.
struct TablesInfo {
  enum class Shape { course, flat, other };
  Shape shape = Shape::other;
  int flat_step = 0;  ///< if flat
  /// The lowest and the highest qp that gives these tables, in tenths; empty if none does.
  std::optional<std::pair<int, int>> qp_tenths = {};
};

[[nodiscard]] TablesInfo describe_tables(const QuantizationTables& tables);

/// "the course encoder's of qp 25", "flat, step 12 (qp 16.1 to 28.2)", "of another encoder"
[[nodiscard]] std::string text_of(const TablesInfo& tables);

/// What in a stream depends on the preset that it was encoded with.
struct PresetMarks {
  std::set<QuantizationTables> tables;  ///< no more than kMostTables
  bool has_more_tables = false;
  bool compact_headers = false;  ///< some frame lacks a segment that the course encoder writes in every frame
  std::int64_t replacing = 0;    ///< inter frames with the reference of the frame before
  std::int64_t repeats = 0;
  std::uint64_t unpredicted = 0;  ///< blocks of inter frames without a vector; 0 if they were not looked at

  static constexpr std::size_t kMostTables = 256;
  void add(const QuantizationTables& frame_tables);
  /// Returns true for tables that preset best gives key frames beside the flat tables of the other frames.
  [[nodiscard]] bool is_finer(const QuantizationTables& frame_tables) const;
  /// What the course encoder does not write, in words.
  [[nodiscard]] std::vector<std::string> differences() const;
  /// The presets that write such streams, as far as these marks tell. Empty if none does without further options.
  [[nodiscard]] std::vector<Preset> presets() const;
};

}  // namespace c63::tools
