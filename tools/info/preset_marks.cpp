#include "info/preset_marks.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/counted.h"
#include "decide/flat_tables.h"

namespace c63::tools {
namespace {

/// The lowest and highest qp, in tenths, whose tables `make` makes equal to `tables`.
template <typename Make>
std::optional<std::pair<int, int>> qp_of(const QuantizationTables& tables, const Make& make) {
  std::optional<std::pair<int, int>> range;
  for (int tenths = 10 * kMinQp; tenths <= 10 * kMaxQp; ++tenths) {
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

/// "25", or "16.1 to 28.2". Whole numbers are what people give, so one that is alone in a range is said.
std::string qp_text(const std::pair<int, int>& tenths) {
  const int first_whole = (tenths.first + 9) / 10;
  if (first_whole * 10 <= tenths.second && (first_whole + 1) * 10 > tenths.second) return fmt::to_string(first_whole);
  return tenths.first == tenths.second ? fmt::format("{:g}", tenths.first / 10.0)
                                       : fmt::format("{:g} to {:g}", tenths.first / 10.0, tenths.second / 10.0);
}

}  // namespace

TablesInfo describe_tables(const QuantizationTables& tables) {
  if (is_flat(tables)) {
    return {.shape = TablesInfo::Shape::flat, .flat_step = tables[0][0], .qp_tenths = qp_of(tables, [](double qp) {
                                                                           return flat_tables(qp);
                                                                         })};
  }
  if (const auto qp = qp_of(tables, [](double q) { return make_quantization_tables(q); })) {
    return {.shape = TablesInfo::Shape::course, .qp_tenths = qp};
  }
  return {};
}

std::string text_of(const TablesInfo& tables) {
  const std::string qp = tables.qp_tenths ? "qp " + qp_text(*tables.qp_tenths) : "";
  switch (tables.shape) {
    case TablesInfo::Shape::course:
      return "the course encoder's of " + qp;
    case TablesInfo::Shape::flat:
      return fmt::format("flat, step {}{}", tables.flat_step, qp.empty() ? "" : " (" + qp + ")");
    case TablesInfo::Shape::other:
      break;
  }
  return "of another encoder";
}

void PresetMarks::add(const QuantizationTables& frame_tables) {
  if (tables.size() < kMostTables) {
    tables.insert(frame_tables);
  } else if (!tables.contains(frame_tables)) {
    has_more_tables = true;
  }
}

bool PresetMarks::is_finer(const QuantizationTables& frame_tables) const {
  return std::ranges::any_of(tables, [&](const QuantizationTables& t) {
    return t != frame_tables && is_flat(t) && finer_tables(t) == frame_tables;
  });
}

std::vector<std::string> PresetMarks::differences() const {
  std::vector<std::string> list;
  const bool course_tables = std::ranges::all_of(
      tables, [](const QuantizationTables& t) { return describe_tables(t).shape == TablesInfo::Shape::course; });
  if (!course_tables) list.emplace_back("quantization tables of its own");
  if (tables.size() > 1) list.emplace_back("tables that change");
  if (compact_headers) list.emplace_back("compact headers");
  if (replacing > 0) list.push_back(counted(replacing, "frame") + " with the reference of the frame before");
  if (repeats > 0) list.push_back(counted(repeats, "repeat"));
  if (unpredicted > 0)
    list.push_back(counted(static_cast<std::int64_t>(unpredicted), "inter block") + " without a vector");
  return list;
}

std::vector<Preset> PresetMarks::presets() const {
  std::set<TablesInfo::Shape> shapes;
  for (const QuantizationTables& t : tables) shapes.insert(describe_tables(t).shape);
  if (has_more_tables || shapes.size() != 1) return {};
  if (shapes.contains(TablesInfo::Shape::course)) {
    const bool as_course = tables.size() == 1 && !compact_headers && replacing == 0 && repeats == 0 && unpredicted == 0;
    return as_course ? std::vector{Preset::reference} : std::vector<Preset>{};
  }
  if (!shapes.contains(TablesInfo::Shape::flat) || !compact_headers) return {};
  std::vector<Preset> list;
  // Finer key frames come with preset best alone, and a GOP of a capped encode may have tables of its own with any
  // preset.
  if (replacing == 0 && tables.size() == 1) list.push_back(Preset::fast);
  if (tables.size() == 1) list.push_back(Preset::good);
  list.push_back(Preset::best);
  return list;
}

}  // namespace c63::tools
