#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace c63 {

/// Which row of a trace a span belongs to, together with an index.
enum class TraceTrack {
  loop,     ///< the caller's thread: waiting for frames and writing them
  feeder,   ///< a thread that reads frames and hands out work
  input,    ///< reading for one lane; lanes may read at the same time
  lane,     ///< one lane's chain of dependent frames
  thread,   ///< one of the threads that decode
  entropy,  ///< entropy coding for one lane, which runs beside the lane's next frame
  device,   ///< work on a device, one index per stream
};

/// One piece of work: what, for which frame, from when to when.
struct TraceSpan {
  using Clock = std::chrono::steady_clock;

  const char* name = "";  ///< a string that outlives the sink, such as a literal
  TraceTrack track = TraceTrack::loop;
  int index = 0;            ///< feeder, lane, thread or stream
  std::int64_t frame = -1;  ///< in display order; -1 for work that belongs to none
  Clock::time_point start;
  Clock::time_point end;
};

/// Is told about every span, from any thread. All times are of one clock: a device's own times are brought to it by
/// whoever reports them (take the host's time at an event that the device has just passed, and add the distance to it).
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void span(const TraceSpan& span) noexcept = 0;
};

/// Reports the time between its construction and its end. Does nothing, not even look at the clock, without a sink.
class TraceScope {
 public:
  TraceScope(TraceSink* sink, const char* name, TraceTrack track, int index = 0, std::int64_t frame = -1) : sink_(sink) {
    if (sink_ != nullptr) span_ = {name, track, index, frame, TraceSpan::Clock::now(), {}};
  }
  ~TraceScope() {
    if (sink_ == nullptr) return;
    span_.end = TraceSpan::Clock::now();
    sink_->span(span_);
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  TraceSink* sink_;
  TraceSpan span_;
};

/// A row that always does something: each span ends where the next one begins, so that together they are the time from
/// the first to the last. What no name was thought of goes to the name that follows it. Not for two threads at once.
class TraceRow {
 public:
  using Clock = TraceSpan::Clock;

  TraceRow() = default;  ///< tells nobody
  TraceRow(TraceSink* sink, TraceTrack track, int index = 0)
      : sink_(sink), track_(track), index_(index), last_(Clock::now()) {}

  /// Says what the row did since the last call, or since its beginning; `end` may be a moment of that time. Returns the
  /// end, with and without a sink. No time, no span.
  Clock::time_point did(const char* name, std::int64_t frame = -1, Clock::time_point end = Clock::now()) {
    if (end <= last_) return last_;
    if (sink_ != nullptr) sink_->span({name, track_, index_, frame, last_, end});
    return last_ = end;
  }

 private:
  TraceSink* sink_ = nullptr;
  TraceTrack track_ = TraceTrack::loop;
  int index_ = 0;
  Clock::time_point last_;
};

/// Keeps spans in memory.
class TraceRecorder final : public TraceSink {
 public:
  /// Bytes that a span takes until the trace is written.
  static constexpr std::uint64_t kBytesPerSpan = 256;

  /// Spans after the first `most` are counted and dropped.
  explicit TraceRecorder(std::size_t most = std::numeric_limits<std::size_t>::max()) : origin_(TraceSpan::Clock::now()), most_(most) {}

  void span(const TraceSpan& span) noexcept override;

  /// What was recorded, in order of its start.
  [[nodiscard]] std::vector<TraceSpan> spans() const;
  /// The number of spans that found no memory, or came after the most that are kept.
  [[nodiscard]] std::size_t dropped() const;

  /// The trace as the JSON object that Chrome's about:tracing and Perfetto (ui.perfetto.dev) open. Times are
  /// microseconds since this recorder was made.
  [[nodiscard]] std::string chrome_json() const;
  /// The same, in pieces.
  void write_chrome_json(const std::function<void(std::string_view)>& write) const;

 private:
  TraceSpan::Clock::time_point origin_;
  mutable std::mutex mutex_;
  std::vector<TraceSpan> spans_;
  std::size_t most_;
  std::size_t dropped_ = 0;
};

}  // namespace c63
