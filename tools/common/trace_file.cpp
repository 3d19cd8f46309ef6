#include "common/trace_file.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "common/text.h"

namespace c63::tools {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

struct Extent {
  TraceSpan::Clock::time_point start;
  TraceSpan::Clock::time_point end;

  [[nodiscard]] double ms() const { return Milliseconds(end - start).count(); }
  /// Returns how many milliseconds of `span` lie within this extent.
  [[nodiscard]] double ms(const TraceSpan& span) const {
    return std::max(0.0, Milliseconds(std::min(span.end, end) - std::max(span.start, start)).count());
  }
};

std::string line_of(std::string_view rows, TraceTrack track, std::span<const TraceSpan> spans, const Extent& run) {
  std::set<int> indices;
  std::map<std::string_view, double> by_name;
  double named = 0;
  for (const TraceSpan& span : spans) {
    if (span.track != track) continue;
    const double ms = run.ms(span);
    indices.insert(span.index);
    by_name[span.name] += ms;
    named += ms;
  }
  if (indices.empty()) return {};
  std::vector<std::pair<std::string_view, double>> stages(by_name.begin(), by_name.end());
  std::stable_sort(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const double all = std::max(1e-9, run.ms() * static_cast<double>(indices.size()));
  std::string line = indices.size() == 1 ? fmt::format("{} {:.1f} ms:", rows, run.ms())
                                         : fmt::format("{} {} x {:.1f} ms:", rows, indices.size(), run.ms());
  for (const auto& [name, ms] : stages) {
    if (ms > 0) line += fmt::format(" {} {:.1f} %,", name, 100 * ms / all);
  }
  line.back() = ';';
  return line + fmt::format(" {:.1f} % named", 100 * named / all);
}

}  // namespace

std::vector<std::string> trace_lines(std::span<const TraceSpan> spans) {
  std::vector<std::string> lines;
  const auto is_loop = [](const TraceSpan& span) { return span.track == TraceTrack::loop; };
  const auto first = std::ranges::find_if(spans, is_loop);
  if (first == spans.end()) return lines;
  Extent run{first->end, first->end};
  for (const TraceSpan& span : spans) {
    if (is_loop(span)) run.end = std::max(run.end, span.end);
  }
  for (const auto& [rows, track] :
       {std::pair{"loop", TraceTrack::loop}, {"lanes", TraceTrack::chain}, {"threads", TraceTrack::thread}}) {
    if (std::string line = line_of(rows, track, spans, run); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

TraceFile::TraceFile(const std::string& path, Writing writing, std::uint64_t max_memory)
    : path_(path),
      file_(path.empty() ? nullptr : std::make_unique<OutputFile>(path, writing)),
      recorder_(static_cast<std::size_t>(max_memory / 8 / TraceRecorder::kBytesPerSpan)) {}

void TraceFile::commit(spdlog::logger& log) {
  if (!file_) return;
  recorder_.write_chrome_json([this](std::string_view piece) { file_->write(piece); });
  file_->commit();
  if (recorder_.dropped() > 0) {
    log.warn("{}: {} are missing: the trace may take only an eighth of --max-memory", path_,
             counted(static_cast<std::int64_t>(recorder_.dropped()), "span"));
  }
  for (const std::string& line : trace_lines(recorder_.spans())) log.info("{}: {}", path_, line);
}

}  // namespace c63::tools
