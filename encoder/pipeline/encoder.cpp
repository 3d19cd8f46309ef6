#include "c63/encoder.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "c63/error.h"
#include "c63/trace.h"
#include "codec/geometry.h"
#include "cpu/cpu_backend.h"
#include "io/copy_in_pieces.h"
#include "pipeline/backend.h"
#include "pipeline/frame_feeder.h"
#include "pipeline/gop_scheduler.h"

namespace c63 {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }
double milliseconds_since(Clock::time_point start) { return milliseconds(Clock::now() - start); }

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
    const int frames_per_gop = settings.scene_cuts ? 1 : settings.key_interval;
    const std::int64_t gops = (*frames + frames_per_gop - 1) / frames_per_gop;
    limit = std::clamp<std::int64_t>(gops, 1, kMost);
  }
  const std::uint64_t lane_bytes = kPicturesPerLane * Geometry(settings.width, settings.height).padded_samples();
  if (lane_bytes > settings.limits.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "encoding " + std::to_string(settings.width) + "x" + std::to_string(settings.height) + " takes " +
                    std::to_string(lane_bytes) + " bytes, the limit is " +
                    std::to_string(settings.limits.max_memory) + " (--max-memory)");
  }
  const std::uint64_t lanes_in_half = settings.limits.max_memory / 2 / lane_bytes;
  limit = static_cast<std::int64_t>(std::clamp<std::uint64_t>(lanes_in_half, 1, static_cast<std::uint64_t>(limit)));
  const auto kept_pictures = static_cast<std::uint64_t>(!source.seekable()) +
                             static_cast<std::uint64_t>(settings.keep_reconstruction) +
                             static_cast<std::uint64_t>(settings.keep_prediction);
  if (kept_pictures > 0) {
    // Divided step by step: the bytes of a GOP may be more than 64 bits hold.
    const std::uint64_t pictures =
        settings.limits.max_memory / 2 / frame_bytes(settings.width, settings.height) / kept_pictures;
    const std::uint64_t gops = pictures / static_cast<std::uint64_t>(settings.key_interval);
    limit = static_cast<std::int64_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(limit), 1 + gops));
  }
  return static_cast<int>(limit);
}

/// One run of a backend over the frames of a source, from one key frame to the end. Threads of its own, one for each group
/// of lanes (Backend::feeders()), read frames and submit them; the caller's thread delivers, and collects unless the
/// backend is in a hurry (Backend::urgent()). So reading, encoding and writing go on at the same time, and a live source
/// holds no finished frame back.
class EncodeRun {
 public:
  EncodeRun(const EncoderSettings& settings, Backend& backend, FrameFeeder& source, SceneCuts* cuts,
            std::int64_t first_frame, TraceRow& loop)
      : settings_(settings), backend_(backend), source_(source), loop_(loop),
        scheduler_(settings.key_interval, first_frame, cuts), lanes_(static_cast<std::size_t>(backend.lanes())),
        last_luma_(lanes_.size()), in_lane_(lanes_.size()), read_at_(lanes_.size()), motions_(lanes_.size()) {}

  /// Calls `deliver` for finished frames of any lane until all are done. Faults of the source end the video before the
  /// frame they concern and are thrown when every frame before it has been delivered.
  template <typename Deliver>
  void run(const std::stop_token& stop, Deliver&& deliver) {
    std::vector<std::jthread> threads;
    const Quit quit{*this};  // before they are joined
    feeding_ = backend_.feeders();
    for (int i = 0; i < backend_.feeders(); ++i) threads.emplace_back([this, &stop, i] { feed(stop, i); });
    if (backend_.urgent()) threads.emplace_back([this] { collect_frames(); });
    while (take_finished()) {
      for (Finished& frame : delivering_) deliver(std::move(frame.frame), frame.read);
    }
    if (fault_) std::rethrow_exception(fault_);
    if (source_fault_) std::rethrow_exception(source_fault_);
  }

  /// Milliseconds that feeders spent reading, their mean.
  [[nodiscard]] double reading_ms() const { return reading_ms_ / backend_.feeders(); }

 private:
  struct LaneState {
    std::optional<std::int64_t> key;  ///< frame that the lane's GOP starts with
    std::int64_t next = 0;            ///< frame of the GOP that comes next
  };

  /// A frame on its way into a lane's input.
  struct Read {
    LaneFrame frame;
    bool done = false;  ///< false: there is no such frame, or it cannot be read
    std::exception_ptr fault;
  };

  struct Finished {
    EncodedFrame frame;
    Clock::time_point read;
  };

  /// Ends the other threads, whatever happened.
  struct Quit {
    EncodeRun& run;
    ~Quit() {
      {
        const std::lock_guard lock(run.mutex_);
        run.quit_ = true;
      }
      run.room_.notify_all();
      run.submitted_.notify_all();
      run.taken_.notify_all();
    }
  };

  /// Waits for frames to be delivered; false when there will be none.
  bool take_finished() {
    delivering_.clear();
    if (!backend_.urgent()) collected_all_ = !collect_some();
    {
      std::unique_lock lock(mutex_);
      finished_some_.wait(lock, [this] { return !finished_.empty() || collected_all_; });
      std::swap(delivering_, finished_);
    }
    taken_.notify_one();
    loop_.did("wait");
    return !delivering_.empty();
  }

  /// Takes frames that the backend has finished, at least one, and makes room in their lanes; false when there are none.
  bool collect_some() {
    const int in_flight = wait_for_frames();
    if (in_flight == 0) return false;
    // What is finished is taken together, so that the lanes' next frames are read together.
    std::vector<LaneResult> results;
    do {
      results.push_back(backend_.collect());
    } while (static_cast<int>(results.size()) < in_flight && backend_.ready());
    hand_over(results);
    return true;
  }

  /// What the thread does that only collects.
  void collect_frames() {
    try {
      while (collect_some()) {
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fault_) fault_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      collected_all_ = true;
    }
    finished_some_.notify_one();
  }

  /// Waits until frames are in flight and no more are waiting to be delivered than lanes hold, and says how many are in
  /// flight; none when all are collected or something failed.
  int wait_for_frames() {
    std::unique_lock lock(mutex_);
    submitted_.wait(lock, [this] { return in_flight_ > 0 || feeding_ == 0 || fault_ || quit_; });
    const std::size_t most = lanes_.size() * static_cast<std::size_t>(backend_.depth());
    taken_.wait(lock, [this, most] { return finished_.size() < most || fault_ || quit_; });
    return fault_ || quit_ ? 0 : in_flight_;
  }

  /// From the backend to whom delivers.
  void hand_over(std::vector<LaneResult>& results) {
    {
      const std::lock_guard lock(mutex_);
      for (LaneResult& result : results) {
        --in_lane_[result.lane];
        if (settings_.measure_global_motion) {
          result.frame.statistics.global_motion = motions_[result.lane].front();
          motions_[result.lane].pop_front();
        }
        std::deque<Clock::time_point>& read = read_at_[result.lane];
        finished_.push_back({std::move(result.frame), read.front()});
        read.pop_front();
      }
      in_flight_ -= static_cast<int>(results.size());
      ++releases_;
    }
    room_.notify_all();
    finished_some_.notify_one();
  }

  /// What a feeder's thread does: keeps the inputs of its lanes filled.
  void feed(const std::stop_token& stop, int feeder) {
    try {
      std::vector<Read> reads;
      std::vector<LaneFrame> batch;
      int first_lane = feeder;
      TraceRow trace(settings_.trace, TraceTrack::feeder, feeder);
      while (plan_frames(stop, feeder, first_lane, reads)) {
        trace.did(settings_.scene_cuts ? "scene cuts and wait" : "wait");
        read_frames(reads, batch);
        trace.did("read");
        if (batch.empty()) continue;
        {
          const auto now = Clock::now();
          const std::lock_guard lock(mutex_);
          for (const LaneFrame& frame : batch) read_at_[frame.lane].push_back(now);
        }
        backend_.submit(batch);
        trace.did("submit");
        {
          const std::lock_guard lock(mutex_);
          for (const LaneFrame& frame : batch) ++in_lane_[frame.lane];
          in_flight_ += static_cast<int>(batch.size());
        }
        submitted_.notify_one();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fault_) fault_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      --feeding_;
    }
    submitted_.notify_one();
  }

  /// Waits until lanes of a feeder have room, and plans the next frame of as many as the backend can take at once, lanes
  /// in turn from `first_lane`; false when none will have another frame.
  bool plan_frames(const std::stop_token& stop, int feeder, int& first_lane, std::vector<Read>& reads) {
    const int step = backend_.feeders();
    const int own = (static_cast<int>(lanes_.size()) - feeder + step - 1) / step;
    std::vector<int> free;
    reads.clear();
    for (;;) {
      std::int64_t releases = 0;
      free.clear();
      {
        const std::lock_guard lock(mutex_);
        if (quit_) return false;
        releases = releases_;
        for (int i = 0, lane = first_lane; i < own; ++i) {
          if (in_lane_[lane] < backend_.depth()) free.push_back(lane);
          lane += step;
          if (lane >= static_cast<int>(lanes_.size())) lane = feeder;
        }
      }
      {
        const std::lock_guard lock(plan_mutex_);
        for (const int lane : free) {
          first_lane = lane;
          if (stop.stop_requested() || static_cast<int>(reads.size()) == backend_.inputs()) break;
          if (const auto frame = plan_frame(lane)) reads.push_back({*frame, false, nullptr});
        }
      }
      // A stop request also ends the search for scene cuts, so that what was planned last may not be true.
      if (stop.stop_requested()) return false;
      if (!reads.empty()) return true;
      if (static_cast<int>(free.size()) == own) return false;
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return releases_ != releases || quit_; });
    }
  }

  /// The next frame of a lane; nothing where the lane has none left. The planning mutex is held.
  std::optional<LaneFrame> plan_frame(int lane) {
    LaneState& state = lanes_[lane];
    if (!state.key || !scheduler_.continues(*state.key, state.next)) {
      state.key = scheduler_.next();
      if (!state.key) return std::nullopt;
      state.next = *state.key;
    }
    const std::int64_t index = state.next++;
    return LaneFrame{lane, {index, index == *state.key}, 0};
  }

  void read_frame(Read& read) {
    const TraceScope trace(settings_.trace, "read", TraceTrack::input, read.frame.lane, read.frame.plan.index);
    const auto start = Clock::now();
    try {
      const std::span<std::uint8_t> input = backend_.input(read.frame.lane);
      read.done = source_.read(read.frame.plan.index, input);
      if (read.done && settings_.measure_global_motion) measure_global_motion(read.frame, input);
    } catch (...) {
      read.fault = std::current_exception();
    }
    read.frame.read_ms = milliseconds_since(start);
  }

  void measure_global_motion(const LaneFrame& frame, std::span<const std::uint8_t> input) {
    const int width = settings_.width, height = settings_.height;
    const auto luma = input.first(plane_bytes(width, height, 0));
    std::vector<std::uint8_t>& last = last_luma_[frame.lane];
    GlobalMotion motion{.measured = !frame.plan.key, .shift = std::nullopt};
    if (motion.measured && width >= 3 && height >= 3) {
      motion.shift = estimate_shift<std::uint8_t>({last.data(), width, height, width}, {luma.data(), width, height, width});
    }
    last.assign(luma.begin(), luma.end());
    const std::lock_guard lock(mutex_);
    motions_[frame.lane].push_back(motion);
  }

  /// Fills the inputs of lanes as planned; `batch` is what there was to be read.
  void read_frames(std::vector<Read>& reads, std::vector<LaneFrame>& batch) {
    const auto start = Clock::now();
    if (source_.concurrent() && reads.size() > 1) {
      oneapi::tbb::parallel_for(std::size_t{0}, reads.size(), [&](std::size_t i) { read_frame(reads[i]); });
    } else {
      for (Read& read : reads) read_frame(read);
    }
    batch.clear();
    const std::lock_guard lock(plan_mutex_);
    reading_ms_ += milliseconds_since(start);
    for (const Read& read : reads) {
      const std::int64_t index = read.frame.plan.index;
      if (read.done || index >= scheduler_.end()) continue;
      scheduler_.end_at(index);
      source_fault_ = read.fault;
    }
    for (const Read& read : reads) {
      if (read.frame.plan.index < scheduler_.end()) {
        batch.push_back(read.frame);
      } else {
        backend_.discard_input(read.frame.lane);
      }
    }
  }

  const EncoderSettings& settings_;
  Backend& backend_;
  FrameFeeder& source_;
  TraceRow& loop_;

  std::mutex plan_mutex_;  ///< guards these; the search for scene cuts, which reads, is done under it
  GopScheduler scheduler_;
  std::vector<LaneState> lanes_;
  std::exception_ptr source_fault_;  ///< at scheduler_.end()
  double reading_ms_ = 0;            ///< of all feeders

  std::vector<std::vector<std::uint8_t>> last_luma_;  ///< of each lane's frame read last, where global motion is measured

  std::mutex mutex_;                       ///< guards these
  std::condition_variable room_;           ///< in a lane
  std::condition_variable submitted_;      ///< frames, or a feeder has ended
  std::condition_variable finished_some_;  ///< frames, or all
  std::condition_variable taken_;          ///< to be delivered
  std::vector<int> in_lane_;               ///< frames in flight of each lane
  std::vector<std::deque<Clock::time_point>> read_at_;  ///< of each lane: when those frames were read
  std::vector<std::deque<GlobalMotion>> motions_;       ///< of each lane: of those frames, where it is measured
  int in_flight_ = 0;                      ///< of all
  std::int64_t releases_ = 0;              ///< how often there was new room
  int feeding_ = 0;                        ///< feeders that have not ended
  std::vector<Finished> finished_;
  bool collected_all_ = false;  ///< there will be no more finished ones
  bool quit_ = false;
  std::exception_ptr fault_;  ///< what the backend threw

  std::vector<Finished> delivering_;  ///< the caller's
};

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
  if (format.width != settings.width || format.height != settings.height) {
    throw Error(ErrorKind::usage, "C63-SIZE-MISMATCH",
                "the source is " + std::to_string(format.width) + "x" + std::to_string(format.height) +
                    ", the settings say " + std::to_string(settings.width) + "x" + std::to_string(settings.height));
  }

  EncodeSummary summary;
  const int max_lanes = lane_limit(settings, source);
  TraceRow loop(settings.trace, TraceTrack::loop);
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
  if (settings.scene_cuts) cuts.emplace(feeder, format, stop);
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
    GopScheduler gops(settings.key_interval, last_key, some_cuts);
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
  const std::size_t size = frame_bytes(settings.width, settings.height);
  if (frames.size() % size != 0) {
    throw Error(ErrorKind::input, "C63-PARTIAL-FRAME",
                std::to_string(frames.size()) + " bytes are no whole number of frames of " + std::to_string(size) +
                    " bytes");
  }
  MemorySource source(frames, {settings.width, settings.height, {}});
  std::vector<std::uint8_t> stream;
  encoder.encode(source, [&](EncodedFrame&& frame) {
    stream.insert(stream.end(), frame.bytes.begin(), frame.bytes.end());
  });
  return stream;
}

}  // namespace c63
