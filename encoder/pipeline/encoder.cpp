#include "c63/encoder.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "c63/error.h"
#include "c63/trace.h"
#include "codec/geometry.h"
#include "cpu/cpu_backend.h"
#include "io/copy_in_pieces.h"
#include "pipeline/backend.h"
#include "pipeline/encode_run.h"
#include "pipeline/frame_feeder.h"
#include "pipeline/gop_scheduler.h"

namespace c63 {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Bytes of buffers that a lane takes at most, in pictures: three inputs, two frames of 16-bit levels, reconstruction and
/// reference, 16-bit sums for the search, and one for what is small or coded.
constexpr std::uint64_t kPicturesPerLane = 12;

/// How many lanes a run can feed: no more than it has GOPs and the memory limit holds, where half of it is for frames
/// and pictures that wait in memory for their turn. Throws Error (limit) where not even one fits.
int lane_limit(const EncoderSettings& settings, const FrameSource& source) {
  constexpr std::int64_t kMost = 1024;
  std::int64_t limit = kMost;
  if (const auto frames = source.frame_count()) {
    // Scene cuts may make a GOP of every frame.
    const int frames_per_gop = settings.coding.scene_cuts ? 1 : settings.coding.key_interval;
    const std::int64_t gops = (*frames + frames_per_gop - 1) / frames_per_gop;
    limit = std::clamp<std::int64_t>(gops, 1, kMost);
  }
  const std::uint64_t lane_bytes = kPicturesPerLane * Geometry(settings.coding.width, settings.coding.height).padded_samples();
  if (lane_bytes > settings.execution.limits.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "encoding " + std::to_string(settings.coding.width) + "x" + std::to_string(settings.coding.height) + " takes " +
                    std::to_string(lane_bytes) + " bytes, the limit is " +
                    std::to_string(settings.execution.limits.max_memory) + " (--max-memory)");
  }
  const std::uint64_t lanes_in_half = settings.execution.limits.max_memory / 2 / lane_bytes;
  limit = static_cast<std::int64_t>(std::clamp<std::uint64_t>(lanes_in_half, 1, static_cast<std::uint64_t>(limit)));
  const auto kept_pictures = static_cast<std::uint64_t>(!source.seekable()) +
                             static_cast<std::uint64_t>(settings.measurement.keep_reconstruction) +
                             static_cast<std::uint64_t>(settings.measurement.keep_prediction);
  if (kept_pictures > 0) {
    // Divided step by step: the bytes of a GOP may be more than 64 bits hold.
    const std::uint64_t pictures =
        settings.execution.limits.max_memory / 2 / frame_bytes(settings.coding.width, settings.coding.height) / kept_pictures;
    const std::uint64_t gops = pictures / static_cast<std::uint64_t>(settings.coding.key_interval);
    limit = static_cast<std::int64_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(limit), 1 + gops));
  }
  return static_cast<int>(limit);
}

}  // namespace

StageTimes& StageTimes::operator+=(const StageTimes& other) {
  for (const auto stage : {&StageTimes::read, &StageTimes::upload, &StageTimes::motion, &StageTimes::transform,
                           &StageTimes::measure, &StageTimes::entropy, &StageTimes::download, &StageTimes::write}) {
    this->*stage += other.*stage;
  }
  return *this;
}

BitCounts& BitCounts::operator+=(const BitCounts& other) {
  for (const auto kind : {&BitCounts::header, &BitCounts::motion, &BitCounts::luma, &BitCounts::chroma}) {
    this->*kind += other.*kind;
  }
  return *this;
}

struct Encoder::State {
  EncoderSettings settings;
  BackendFactory factory;
  BackendFactory fallback;
  std::function<void(const std::string&)> on_fallback;
};

std::unique_ptr<Backend> open_cpu_backend(const EncoderSettings& settings, int max_lanes) {
  return cpu::make_cpu_backend(settings, max_lanes);
}

Encoder::Encoder(EncoderSettings settings) : Encoder(std::move(settings), open_cpu_backend) {}

Encoder::Encoder(EncoderSettings settings, BackendFactory factory)
    : state_(std::make_unique<State>(State{std::move(settings), std::move(factory), nullptr, nullptr})) {
  validate(state_->settings);
}

Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

const EncoderSettings& Encoder::settings() const { return state_->settings; }

void Encoder::set_fallback(BackendFactory factory, std::function<void(const std::string&)> on_fallback) {
  state_->fallback = std::move(factory);
  state_->on_fallback = std::move(on_fallback);
}

EncodeSummary Encoder::encode(FrameSource& source, const Sink& sink, std::stop_token stop) {
  const EncoderSettings& settings = state_->settings;
  const VideoFormat format = source.format();
  if (format.width != settings.coding.width || format.height != settings.coding.height) {
    throw Error(ErrorKind::usage, "C63-SIZE-MISMATCH",
                "the source is " + std::to_string(format.width) + "x" + std::to_string(format.height) +
                    ", the settings say " + std::to_string(settings.coding.width) + "x" + std::to_string(settings.coding.height));
  }

  EncodeSummary summary;
  const int max_lanes = lane_limit(settings, source);
  TraceRow loop(settings.measurement.trace, TraceTrack::loop);
  const auto open_start = Clock::now();
  const auto open = [&](const BackendFactory& factory) {
    std::unique_ptr<Backend> backend = factory(settings, max_lanes);
    summary.backend = backend->description();
    summary.lanes = backend->lanes();
    return backend;
  };
  std::unique_ptr<Backend> backend;
  bool may_fall_back = state_->fallback != nullptr;
  const auto fall_back = [&](const Error& fault) {
    may_fall_back = false;
    if (state_->on_fallback) state_->on_fallback(fault.what());
    backend.reset();
    backend = open(state_->fallback);
  };
  try {
    backend = open(state_->factory);
  } catch (const Error& fault) {
    if (fault.kind() != ErrorKind::device || !may_fall_back) throw;
    fall_back(fault);
  }
  const auto start = loop.did("open");
  summary.start_up_ms = milliseconds(start - open_start);

  FrameFeeder feeder(source, may_fall_back);
  std::optional<SceneCuts> cuts;
  if (settings.coding.scene_cuts) cuts.emplace(feeder, format, stop);
  using Waiting = std::pair<EncodedFrame, Clock::time_point>;
  std::map<std::int64_t, Waiting> early;  // finished before a frame that comes before them, and when they were read
  std::int64_t next = 0;
  std::int64_t last_key = 0;
  StageTimes stages;
  double writing_ms = 0;
  double reading_ms = 0;
  const auto deliver = [&](EncodedFrame&& finished, Clock::time_point read) {
    if (finished.index < next) return;  // delivered before a fallback
    stages += finished.statistics.times;
    early.emplace(finished.index, Waiting(std::move(finished), read));
    for (auto it = early.begin(); it != early.end() && it->first == next; it = early.erase(it), ++next) {
      EncodedFrame& frame = it->second.first;
      ++summary.frames;
      summary.key_frames += frame.key ? 1 : 0;
      summary.bytes += frame.bytes.size();
      if (frame.key) {
        last_key = frame.index;
        feeder.forget_before(last_key);
      }
      const auto handed_out = Clock::now();
      frame.statistics.latency_ms = milliseconds(handed_out - it->second.second);
      sink(std::move(frame));
      writing_ms += milliseconds(loop.did("write", it->first) - handed_out);
    }
  };

  for (bool done = false; !done;) {
    SceneCuts* const some_cuts = cuts ? &*cuts : nullptr;
    // After a fallback: the GOP that was being handed out once more, unless it was complete.
    GopScheduler gops(settings.coding.key_interval, last_key, some_cuts);
    const bool complete = next > 0 && !gops.continues(last_key, next);
    EncodeRun run(settings, *backend, feeder, some_cuts, complete ? next : last_key, loop);
    try {
      run.run(stop, deliver);
      reading_ms = run.reading_ms();
      done = true;
    } catch (const Error& fault) {
      if (fault.kind() != ErrorKind::device || !may_fall_back) throw fault.at({.frame = next});
      early.clear();
      fall_back(fault);
      loop.did("open");
    }
  }
  summary.stopped = stop.stop_requested();
  summary.elapsed_ms = milliseconds(loop.did("finish") - start);
  const auto share = [&](double ms) { return summary.elapsed_ms > 0 ? std::clamp(ms / summary.elapsed_ms, 0.0, 1.0) : 0; };
  const double coding_ms = stages.motion + stages.transform + stages.measure + stages.entropy;
  summary.load = {.reading = share(reading_ms),
                  .bus = share(stages.upload / backend->parallelism()),
                  .coding = share(coding_ms / backend->parallelism()),
                  .writing = share(writing_ms)};
  return summary;
}

namespace {

/// Whole frames in memory.
class MemorySource final : public FrameSource {
 public:
  MemorySource(std::span<const std::uint8_t> frames, VideoFormat format)
      : frames_(frames), format_(format), frame_bytes_(frame_bytes(format.width, format.height)) {}

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override {
    return static_cast<std::int64_t>(frames_.size() / frame_bytes_);
  }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index >= *frame_count()) return false;
    copy_in_pieces(frames_.subspan(static_cast<std::size_t>(index) * frame_bytes_, frame_bytes_), frame);
    return true;
  }

 private:
  std::span<const std::uint8_t> frames_;
  VideoFormat format_;
  std::size_t frame_bytes_;
};

}  // namespace

std::vector<std::uint8_t> encode(std::span<const std::uint8_t> frames, const EncoderSettings& settings) {
  Encoder encoder(settings);
  const std::size_t size = frame_bytes(settings.coding.width, settings.coding.height);
  if (frames.size() % size != 0) {
    throw Error(ErrorKind::input, "C63-PARTIAL-FRAME",
                std::to_string(frames.size()) + " bytes are no whole number of frames of " + std::to_string(size) +
                    " bytes");
  }
  MemorySource source(frames, {settings.coding.width, settings.coding.height, {}});
  std::vector<std::uint8_t> stream;
  encoder.encode(source, [&](EncodedFrame&& frame) {
    stream.insert(stream.end(), frame.bytes.begin(), frame.bytes.end());
  });
  return stream;
}

}  // namespace c63
