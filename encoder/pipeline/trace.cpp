#include "c63/trace.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>

namespace c63 {
namespace {

constexpr int kHost = 1;
constexpr int kDevice = 2;

/// Where a viewer shows a span: process and thread number, in the order in which they are to be listed.
struct Row {
  int process;
  int thread;
  std::string name;

  friend bool operator<(const Row& a, const Row& b) {
    return std::tie(a.process, a.thread) < std::tie(b.process, b.thread);
  }
};

Row row_of(const TraceSpan& span) {
  const std::string number = std::to_string(span.index);
  const int lane = 1 + 3 * span.index;  // the rows of one lane stand together
  switch (span.track) {
    case TraceTrack::loop: return {kHost, 0, "loop"};
    case TraceTrack::input: return {kHost, lane, "lane " + number + " input"};
    case TraceTrack::lane: return {kHost, lane + 1, "lane " + number};
    case TraceTrack::entropy: return {kHost, lane + 2, "lane " + number + " entropy"};
    case TraceTrack::device: break;
  }
  return {kDevice, span.index, "stream " + number};
}

const char* category(TraceTrack track) {
  switch (track) {
    case TraceTrack::loop: return "loop";
    case TraceTrack::input: return "input";
    case TraceTrack::lane: return "lane";
    case TraceTrack::entropy: return "entropy";
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
  // Of two that start together the longer one is the outer one.
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
  const std::vector<TraceSpan> sorted = spans();
  std::set<Row> rows;
  for (const TraceSpan& span : sorted) rows.insert(row_of(span));

  std::string json = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped_spans\":\"" + std::to_string(dropped()) +
                     "\"},\"traceEvents\":[\n";
  json += metadata("process_name", kHost, 0, "\"name\":\"c63 host\"");
  if (!rows.empty() && rows.rbegin()->process == kDevice) {
    json += metadata("process_name", kDevice, 0, "\"name\":\"c63 device\"");
  }
  for (const Row& row : rows) {
    json += metadata("thread_name", row.process, row.thread, "\"name\":" + quoted(row.name.c_str()));
    json += metadata("thread_sort_index", row.process, row.thread, "\"sort_index\":" + std::to_string(row.thread));
  }
  for (const TraceSpan& span : sorted) {
    const Row row = row_of(span);
    json += "{\"ph\":\"X\",\"name\":" + quoted(span.name) + ",\"cat\":\"" + category(span.track) +
            "\",\"pid\":" + std::to_string(row.process) + ",\"tid\":" + std::to_string(row.thread) +
            ",\"ts\":" + microseconds(span.start - origin_) + ",\"dur\":" + microseconds(span.end - span.start);
    if (span.frame >= 0) json += ",\"args\":{\"frame\":" + std::to_string(span.frame) + "}";
    json += "},\n";
  }
  json.replace(json.size() - 2, 2, "\n]}\n");  // there is always at least one event
  return json;
}

}  // namespace c63
