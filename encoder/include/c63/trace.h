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

/// The kind of a row of a trace. A kind and an index together identify a row.
enum class TraceTrack {
  loop,     ///< the caller's thread, which waits for frames and writes them
  feeder,   ///< a thread that reads frames and gives them to a device
  input,    ///< reading for one chain; several chains may read at the same time
  chain,    ///< the frames of one chain, one after another
  thread,   ///< one of the threads that decode
  entropy,  ///< entropy coding for one chain, at the same time as the chain's next frame
  device,   ///< work on a device, one index per stream
};

/// One piece of work: its name, frame, start and end.
struct TraceSpan {
  using Clock = std::chrono::steady_clock;

  const char* name = "";  ///< a string that outlives the sink, such as a literal
  TraceTrack track = TraceTrack::loop;
  int index = 0;            ///< feeder, chain, thread or stream
  std::int64_t frame = -1;  ///< in display order; -1 if the work belongs to no frame
  Clock::time_point start;
  Clock::time_point end;
};

/// Receives every span, from any thread. All times are those of the host's clock. The time of work on a device is
/// converted. For this, the host's clock is read when the device has just passed an event. To this reading, the
/// device's time since the event is added.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void span(const TraceSpan& span) noexcept = 0;
};

/// Reports the time from its construction to its destruction. Without a sink it does nothing and does not read the clock.
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

/// A row of a trace without gaps: each span begins where the previous one ended. So the spans together are as long as
/// the time from the first to the last. Only one thread at a time may use it.
class TraceRow {
 public:
  using Clock = TraceSpan::Clock;

  TraceRow() = default;  ///< reports nothing
  TraceRow(TraceSink* sink, TraceTrack track, int index = 0)
      : sink_(sink), track_(track), index_(index), last_(Clock::now()) {}

  /// Reports the time since the last call, or since the construction, as one span of work that ended at `end`. Reports
  /// nothing if no time has passed. Returns the end of the last span, also without a sink.
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
  /// Memory that each span takes until the trace is written.
  static constexpr std::uint64_t kBytesPerSpan = 256;

  /// Keeps the first `most` spans; later ones are counted and dropped.
  explicit TraceRecorder(std::size_t most = std::numeric_limits<std::size_t>::max()) : origin_(TraceSpan::Clock::now()), most_(most) {}

  void span(const TraceSpan& span) noexcept override;

  /// The recorded spans, in order of their start.
  [[nodiscard]] std::vector<TraceSpan> spans() const;
  /// The number of spans that were not kept, because memory ran out or `most` was reached.
  [[nodiscard]] std::size_t dropped() const;

  /// Returns the trace as a JSON object for Chrome's about:tracing and Perfetto (ui.perfetto.dev). Times are in
  /// microseconds since this recorder was constructed.
  [[nodiscard]] std::string chrome_json() const;
  /// Gives the same JSON object to `write`, in pieces.
  void write_chrome_json(const std::function<void(std::string_view)>& write) const;

 private:
  TraceSpan::Clock::time_point origin_;
  mutable std::mutex mutex_;
  std::vector<TraceSpan> spans_;
  std::size_t most_;
  std::size_t dropped_ = 0;
};

}  // namespace c63
