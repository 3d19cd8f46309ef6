#include "info/stream_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/report.h"
#include "common/text.h"
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

TablesInfo describe_tables(const QuantizationTables& tables) {
  if (is_flat(tables)) {
    return {.shape = TablesInfo::Shape::flat,
            .flat_step = tables[0][0],
            .qp_tenths = qp_of_tables(tables, 1, [](double qp) { return flat_tables(qp); })};
  }
  const auto qp = qp_of_tables(tables, kMinQp, [](double q) { return make_quantization_tables(q); });
  return {.shape = qp ? TablesInfo::Shape::course : TablesInfo::Shape::other, .qp_tenths = qp};
}

}  // namespace

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

namespace {

using nlohmann::ordered_json;

constexpr std::array<const char*, 4> kKindNames = {"key", "inter", "replacing", "repeat"};

std::string line(const char* heading, const std::string& text) { return fmt::format("{:<9} {}", heading, text); }

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

/// Returns "100" or "12 to 100".
std::string range_text(const ValueRange& range) {
  return range.smallest == range.largest ? fmt::to_string(range.smallest)
                                         : fmt::format("{} to {}", range.smallest, range.largest);
}

/// Returns "25", or "16.1 to 28.2". If exactly one whole number lies in the range, it is returned alone, because users
/// give whole numbers.
std::string qp_text(const std::pair<int, int>& tenths) {
  const int first_whole = (tenths.first + 9) / 10;
  if (first_whole * 10 <= tenths.second && (first_whole + 1) * 10 > tenths.second) return fmt::to_string(first_whole);
  return tenths.first == tenths.second ? fmt::format("{:g}", tenths.first / 10.0)
                                       : fmt::format("{:g} to {:g}", tenths.first / 10.0, tenths.second / 10.0);
}

/// Returns "the course encoder's of qp 25" or "flat, step 12 (qp 16.1 to 28.2)".
std::string tables_text(const TablesInfo& tables) {
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

/// Lists what the stream has that the course encoder does not write.
std::vector<std::string> differences_of(const PresetMarks& marks) {
  std::vector<std::string> list;
  if (!marks.has_course_tables()) list.emplace_back("its own quantization tables");
  if (marks.tables.size() > 1) list.emplace_back("tables that change");
  if (marks.compact_headers) list.emplace_back("compact headers");
  if (marks.replacing > 0)
    list.push_back(counted(marks.replacing, "frame") + " with the reference of the previous frame");
  if (marks.repeats > 0) list.push_back(counted(marks.repeats, "repeat"));
  if (marks.unpredicted > 0) {
    list.push_back(counted(static_cast<std::int64_t>(marks.unpredicted), "inter block") + " without a vector");
  }
  return list;
}

/// Joins names: "fast", "good or best", "fast, good or best".
std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

ordered_json range_json(const ValueRange& range) {
  return {{"smallest", range.smallest}, {"mean", range.mean()}, {"largest", range.largest}};
}

}  // namespace

void ValueRange::add(std::uint64_t value) {
  smallest = count == 0 ? value : std::min(smallest, value);
  largest = std::max(largest, value);
  sum += value;
  ++count;
}

std::optional<GopInfo> StreamInfo::end_gop() {
  if (!gop_) return std::nullopt;
  const GopInfo ended = *gop_;
  gop_frames_.add(static_cast<std::uint64_t>(ended.frames));
  gop_bytes_.add(ended.bytes);
  gop_.reset();
  return ended;
}

std::optional<GopInfo> StreamInfo::finish() { return end_gop(); }

std::optional<GopInfo> StreamInfo::add(const StreamFrame& frame, const FrameBlocks* blocks) {
  const ParsedFrame& parsed = frame.parsed;
  const Kind kind = parsed.repeat ? repeat : parsed.key ? key : parsed.advances_reference ? inter : replacing;
  std::optional<GopInfo> ended;
  if (kind == key || !gop_) {
    ended = end_gop();
    gop_ = GopInfo{.first_frame = frame.index};
  }
  ++gop_->frames;
  gop_->bytes += parsed.size;
  ++frames_;
  bytes_ += parsed.size;
  kinds_[kind].add(parsed.size);
  marks_.add(parsed);
  if (kind != repeat) {
    width_ = parsed.geometry.width();
    height_ = parsed.geometry.height();
  }
  if (blocks == nullptr) return ended;
  if (!bits_) bits_.emplace();
  *bits_ += blocks->bits;
  if (kind == repeat) return ended;
  for (const PlaneBlocks& plane : blocks->planes) {
    all_blocks_ += plane.nonzero_levels.size();
    empty_ += static_cast<std::uint64_t>(std::ranges::count(plane.nonzero_levels, 0));
    if (kind == key) continue;
    blocks_ += plane.inter.size();
    predicted_ += static_cast<std::uint64_t>(std::ranges::count(plane.inter, 1));
  }
  marks_.unpredicted = blocks_ - predicted_;
  return ended;
}

std::vector<std::string> StreamInfo::lines(const std::string& name, const std::optional<FrameRate>& rate) const {
  std::vector<std::string> text = {
      fmt::format("{}: c63 stream, {}x{}, {}, {} bytes", name, width_, height_, counted(frames_, "frame"), bytes_)};
  if (rate) {
    const double seconds = static_cast<double>(frames_) / rate->value();
    text.push_back(line("rate", fmt::format("{:.6g} frames/s: {:.2f} s, {:.2f} kb/s", rate->value(), seconds,
                                            static_cast<double>(bytes_) * 8 / 1000 / seconds)));
  } else {
    text.push_back(line("rate", "unknown: a stream has none; --fps sets it"));
  }
  text.push_back(line("GOPs", fmt::format("{} of {} frames, {} bytes", gop_frames_.count, range_text(gop_frames_),
                                          range_text(gop_bytes_))));
  for (int kind = 0; kind < kKinds; ++kind) {
    const ValueRange& sizes = kinds_[static_cast<std::size_t>(kind)];
    if (sizes.count == 0) continue;
    text.push_back(line(
        kKindNames[static_cast<std::size_t>(kind)],
        fmt::format("{}, {} bytes ({:.1f} %){}", counted(sizes.count, "frame"), sizes.sum, share(sizes.sum, bytes_),
                    sizes.count > 1 ? fmt::format(", {:.0f} each ({})", sizes.mean(), range_text(sizes)) : "")));
  }
  if (bits_) {
    text.push_back(kinds_line(*bits_));
    text.back() = line("bits", text.back().substr(text.back().find(' ') + 1));
    if (blocks_ > 0) {
      text.push_back(line(
          "blocks", fmt::format("{:.1f} % of those in inter frames have a vector; {:.1f} % of all have no coefficients",
                                share(predicted_, blocks_), share(empty_, all_blocks_))));
    }
  }
  constexpr std::size_t kMostTold = 4;
  std::size_t told = 0;
  for (const QuantizationTables& tables : marks_.tables) {
    if (told++ == kMostTold) break;
    const TablesInfo info = describe_tables(tables);
    text.push_back(line("tables", marks_.is_finer(tables)
                                      ? fmt::format("flat, step {}, for finer key frames", info.flat_step)
                                      : tables_text(info)));
  }
  if (marks_.tables.size() > kMostTold) {
    text.push_back(
        line("", fmt::format("and {}{} more", marks_.tables.size() - kMostTold, marks_.has_more_tables ? " or" : "")));
  }
  const std::vector<std::string> differences = differences_of(marks_);
  text.push_back(line("marks", differences.empty() ? "none: all is as the course encoder writes it"
                                                   : fmt::format("{}", fmt::join(differences, ", "))));
  std::vector<std::string> presets;
  for (const Preset preset : marks_.presets()) presets.emplace_back(c63::name(preset));
  text.push_back(line("preset", presets.empty() ? "none writes this without further options" : alternatives(presets)));
  return text;
}

ordered_json StreamInfo::json(const std::optional<FrameRate>& rate) const {
  ordered_json json = {{"width_pixels", width_},
                       {"height_pixels", height_},
                       {"frames", frames_},
                       {"bytes", bytes_},
                       {"rate_numerator", rate ? ordered_json(rate->numerator) : ordered_json(nullptr)},
                       {"rate_denominator", rate ? ordered_json(rate->denominator) : ordered_json(nullptr)}};
  json["gop_frames"] = range_json(gop_frames_);
  json["gop_bytes"] = range_json(gop_bytes_);
  // `kinds` begins as an object. If it were null and memory ran out while null became an object, nlohmann's destructor
  // would crash.
  ordered_json kinds = ordered_json::object();
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    ordered_json of_kind = {{"frames", kinds_[kind].count}, {"bytes", kinds_[kind].sum}};
    if (kinds_[kind].count > 0) of_kind["frame_bytes"] = range_json(kinds_[kind]);
    kinds[kKindNames[kind]] = of_kind;
  }
  json["kinds"] = kinds;
  json["bits_by_kind"] = bits_ ? kinds_json(*bits_) : ordered_json(nullptr);
  json["blocks"] = nullptr;
  if (bits_) {
    json["blocks"] = {{"all", all_blocks_},
                      {"without_coefficients", empty_},
                      {"of_inter_frames", blocks_},
                      {"with_vector", predicted_}};
  }
  json["tables"] = ordered_json::array();
  for (const QuantizationTables& tables : marks_.tables) {
    const TablesInfo info = describe_tables(tables);
    constexpr std::array<const char*, 3> kShapes = {"course", "flat", "other"};
    ordered_json one = {
        {"shape", kShapes[static_cast<std::size_t>(info.shape)]}, {"lowest_qp", nullptr}, {"highest_qp", nullptr}};
    if (info.shape == TablesInfo::Shape::flat) one["step"] = info.flat_step;
    one["finer_key_frames"] = marks_.is_finer(tables);
    if (info.qp_tenths && !marks_.is_finer(tables)) {
      one["lowest_qp"] = info.qp_tenths->first / 10.0;
      one["highest_qp"] = info.qp_tenths->second / 10.0;
    }
    json["tables"].push_back(one);
  }
  json["has_more_tables"] = marks_.has_more_tables;
  json["marks"] = differences_of(marks_);
  json["presets"] = ordered_json::array();
  for (const Preset preset : marks_.presets()) json["presets"].push_back(c63::name(preset));
  return json;
}

}  // namespace c63::tools
