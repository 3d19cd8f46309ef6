#include "c63/trace.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdio>
#include <map>
#include <tuple>

namespace c63 {
namespace {

constexpr int kHost = 1;
constexpr int kDevice = 2;
constexpr int kNoLane = -1;

/// The row in which a viewer shows a span. Rows are sorted by process, lane and kind. A span may lie inside an earlier
/// span of its row. If it overlaps an earlier span only in part, it goes to another row. For example, two frames of a
/// lane may be entropy coded at the same time.
struct Row {
  int process = kHost;
  int lane = kNoLane;
  int kind = 0;
  int overflow = 0;

  friend auto operator<=>(const Row&, const Row&) = default;
};

Row row_of(const TraceSpan& span) {
  switch (span.track) {
    case TraceTrack::loop: break;
    case TraceTrack::feeder: return {kHost, kNoLane, 1 + span.index};
    case TraceTrack::input: return {kHost, span.index, 0};
    case TraceTrack::chain: return {kHost, span.index, 1};
    case TraceTrack::entropy: return {kHost, span.index, 2};
    case TraceTrack::thread: return {kHost, span.index, 3};
    case TraceTrack::device: return {kDevice, span.index, 0};
  }
  return {};
}

std::string name_of(const Row& row) {
  std::string name = "loop";
  if (row.process == kDevice) {
    name = "stream " + std::to_string(row.lane);
  } else if (row.lane >= 0) {
    constexpr std::array kKinds = {"lane # input", "lane #", "lane # entropy", "thread #"};
    name = kKinds[static_cast<std::size_t>(row.kind)];
    name.replace(name.find('#'), 1, std::to_string(row.lane));
  } else if (row.kind > 0) {
    name = "feeder " + std::to_string(row.kind - 1);
  }
  return row.overflow == 0 ? name : name + " (" + std::to_string(row.overflow + 1) + ")";
}

/// Returns the row of each span. Spans must be sorted by their starts.
std::vector<Row> rows_of(const std::vector<TraceSpan>& spans) {
  // For each row, `open` has the ends of earlier spans in which the next span can lie. The innermost one is the last.
  // Those that end before the next span starts are removed.
  std::map<Row, std::vector<TraceSpan::Clock::time_point>> open;
  std::vector<Row> rows;
  rows.reserve(spans.size());
  for (const TraceSpan& span : spans) {
    for (Row row = row_of(span);; ++row.overflow) {
      auto& ends = open[row];
      while (!ends.empty() && ends.back() <= span.start) ends.pop_back();
      if (!ends.empty() && ends.back() < span.end) continue;
      ends.push_back(span.end);
      rows.push_back(row);
      break;
    }
  }
  return rows;
}

const char* category(TraceTrack track) {
  switch (track) {
    case TraceTrack::loop: return "loop";
    case TraceTrack::feeder: return "feeder";
    case TraceTrack::input: return "input";
    case TraceTrack::chain: return "lane";
    case TraceTrack::entropy: return "entropy";
    case TraceTrack::thread: return "thread";
    case TraceTrack::device: break;
  }
  return "device";
}

std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') out += '\\';
    out += *text;
  }
  return out + '"';
}

std::string microseconds(TraceSpan::Clock::duration duration) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", std::chrono::duration<double, std::micro>(duration).count());
  return text;
}

std::string metadata(const char* what, int process, int thread, const std::string& value) {
  return std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(thread) + ",\"args\":{" + value + "}},\n";
}

}  // namespace

void TraceRecorder::span(const TraceSpan& span) noexcept {
  const std::lock_guard lock(mutex_);
  if (spans_.size() >= most_) {
    ++dropped_;
    return;
  }
  try {
    spans_.push_back(span);
  } catch (...) {
    ++dropped_;
  }
}

std::vector<TraceSpan> TraceRecorder::spans() const {
  std::vector<TraceSpan> sorted;
  {
    const std::lock_guard lock(mutex_);
    sorted = spans_;
  }
  // Of spans that start together, the longer one comes first, because it encloses the other.
  std::stable_sort(sorted.begin(), sorted.end(), [](const TraceSpan& a, const TraceSpan& b) {
    return std::tie(a.start, b.end) < std::tie(b.start, a.end);
  });
  return sorted;
}

std::size_t TraceRecorder::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::string TraceRecorder::chrome_json() const {
  std::string json;
  write_chrome_json([&](std::string_view piece) { json += piece; });
  return json;
}

void TraceRecorder::write_chrome_json(const std::function<void(std::string_view)>& write) const {
  const std::vector<TraceSpan> sorted = spans();
  const std::vector<Row> rows = rows_of(sorted);
  std::map<Row, int> threads;
  for (const Row& row : rows) threads[row] = 0;
  int number = 0;
  for (auto& [row, thread] : threads) thread = ++number;

  std::string json = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped_spans\":\"" + std::to_string(dropped()) +
                     "\"},\"traceEvents\":[\n";
  json += metadata("process_name", kHost, 0, "\"name\":\"c63 host\"");
  if (!threads.empty() && threads.rbegin()->first.process == kDevice) {
    json += metadata("process_name", kDevice, 0, "\"name\":\"c63 device\"");
  }
  for (const auto& [row, thread] : threads) {
    json += metadata("thread_name", row.process, thread, "\"name\":" + quoted(name_of(row).c_str()));
    json += metadata("thread_sort_index", row.process, thread, "\"sort_index\":" + std::to_string(thread));
  }
  json.resize(json.size() - 2);  // removes the last comma; there is always at least one event
  write(json);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const TraceSpan& span = sorted[i];
    json = ",\n{\"ph\":\"X\",\"name\":" + quoted(span.name) + ",\"cat\":\"" + category(span.track) +
           "\",\"pid\":" + std::to_string(rows[i].process) + ",\"tid\":" + std::to_string(threads[rows[i]]) +
           ",\"ts\":" + microseconds(span.start - origin_) + ",\"dur\":" + microseconds(span.end - span.start);
    if (span.frame >= 0) json += ",\"args\":{\"frame\":" + std::to_string(span.frame) + "}";
    write(json + "}");
  }
  write("\n]}\n");
}

}  // namespace c63
