#include "info/preset_marks.h"

#include <algorithm>

#include "decide/flat_tables.h"

namespace c63::tools {
namespace {

/// Returns the lowest and the highest qp, in tenths, from `least` on, for which `make` gives `tables`; empty if there is none.
template <typename Make>
std::optional<std::pair<int, int>> qp_of_tables(const QuantizationTables& tables, int least, const Make& make) {
  std::optional<std::pair<int, int>> range;
  for (int tenths = 10 * least; tenths <= 10 * kMaxQp; ++tenths) {
    if (make(tenths / 10.0) != tables) continue;
    if (!range) range = {tenths, tenths};
    range->second = tenths;
  }
  return range;
}

bool is_flat(const QuantizationTables& tables) {
  return std::ranges::all_of(tables, [&](const QuantizationTable& table) {
    return std::ranges::all_of(table, [&](std::uint8_t step) { return step == tables[0][0]; });
  });
}

}  // namespace

TablesInfo describe_tables(const QuantizationTables& tables) {
  if (is_flat(tables)) {
    return {.shape = TablesInfo::Shape::flat,
            .flat_step = tables[0][0],
            .qp_tenths = qp_of_tables(tables, 1, [](double qp) { return flat_tables(qp); })};
  }
  const auto qp = qp_of_tables(tables, kMinQp, [](double q) { return make_quantization_tables(q); });
  return {.shape = qp ? TablesInfo::Shape::course : TablesInfo::Shape::other, .qp_tenths = qp};
}

void PresetMarks::add(const ParsedFrame& frame) {
  if (frame.repeat) {
    ++repeats;
    return;
  }
  if (!frame.advances_reference) ++replacing;
  compact_headers = compact_headers || frame.scan_offset < kFrameHeaderBytes;
  if (tables.contains(frame.tables)) return;
  has_more_tables = has_more_tables || tables.size() == kMostTables;
  if (!has_more_tables) tables.insert(frame.tables);
}

bool PresetMarks::has_course_tables() const {
  return std::ranges::all_of(tables,
                             [](const auto& one) { return describe_tables(one).shape == TablesInfo::Shape::course; });
}

bool PresetMarks::is_finer(const QuantizationTables& frame_tables) const {
  return std::ranges::any_of(tables, [&](const auto& one) {
    return one != frame_tables && is_flat(one) && finer_tables(one) == frame_tables;
  });
}

std::vector<Preset> PresetMarks::presets() const {
  if (has_more_tables) return {};
  if (has_course_tables()) {
    const bool as_course = tables.size() == 1 && !compact_headers && replacing == 0 && repeats == 0 && unpredicted == 0;
    return as_course ? std::vector{Preset::reference} : std::vector<Preset>();
  }
  if (!compact_headers || !std::ranges::all_of(tables, is_flat)) return {};
  std::vector<Preset> list;
  if (replacing == 0 && tables.size() == 1) list.push_back(Preset::fast);
  if (tables.size() == 1) list.push_back(Preset::good);
  list.push_back(Preset::best);
  return list;
}

}  // namespace c63::tools
