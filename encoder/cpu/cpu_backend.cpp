#include "cpu/cpu_backend.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bitstream/entropy_encoder.h"
#include "bitstream/frame_header.h"
#include "c63/quality.h"
#include "c63/trace.h"
#include "cpu/frame_coder.h"

namespace c63::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }
double milliseconds_since(Clock::time_point start) { return milliseconds(Clock::now() - start); }

/// One frame between submit() and collect().
struct Slot {
  PaddedPicture picture;  ///< the input
  FramePlan plan;
  EncodedFrame frame;
  Clock::time_point submitted;
  bool finished = false;
  std::exception_ptr fault;
};

/// How many frames a lane holds: one being searched, one being entropy coded, one being read.
constexpr int kDepth = 3;
/// How many of them have syntax: the first two.
constexpr int kCoding = 2;

/// A chain of dependent frames. The search of one frame needs only the reconstruction of the one before, so its entropy
/// coding runs beside the next frame's search. All its memory is allocated when it is opened.
struct Lane {
  std::array<Slot, kDepth> slots;
  std::array<FrameSyntax, kCoding> syntax;
  std::array<PaddedPicture, 2> pictures;  ///< reconstruction and reference, in turns
  PaddedPicture prediction;
  Searchers searchers;
  TraceRow trace;  ///< whoever runs the lane tells it

  // Counters of frames; what a frame uses is its count modulo how many there are. Guarded by the backend's mutex.
  std::int64_t submitted = 0;
  std::int64_t started = 0;
  std::int64_t collected = 0;
  bool running = false;

  template <typename T, std::size_t N>
  [[nodiscard]] static T& of(std::array<T, N>& items, std::int64_t count) {
    return items[static_cast<std::size_t>(count) % N];
  }
  [[nodiscard]] Slot& slot(std::int64_t count) { return of(slots, count); }
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(const EncoderSettings& settings, int max_lanes)
      : settings_(settings),
        threads_(settings.execution.threads > 0 ? settings.execution.threads
                                      : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
        kernels_(kernels(settings.execution.simd)),
        coder_(settings, kernels_),
        parallelism_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads_) + 1),
        arena_(threads_, 0),
        lanes_(static_cast<std::size_t>(lane_count(settings, max_lanes))) {
    const Geometry& geometry = coder_.geometry();
    for (Lane& lane : lanes_) {
      for (Slot& slot : lane.slots) slot.picture = PaddedPicture(geometry);
      for (FrameSyntax& syntax : lane.syntax) syntax = FrameSyntax(geometry);
      for (PaddedPicture& picture : lane.pictures) picture = PaddedPicture(geometry);
      if (settings.measurement.keep_prediction) lane.prediction = PaddedPicture(geometry);
      lane.searchers = coder_.make_searchers();
      lane.trace = TraceRow(settings.measurement.trace, TraceTrack::lane, static_cast<int>(&lane - lanes_.data()));
    }
  }

  ~CpuBackend() override {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return tasks_ == 0; });
    for (Lane& lane : lanes_) lane.trace.did("no input");
  }

  [[nodiscard]] std::string description() const override {
    return "cpu (" + std::string(name(kernels_.level)) + ", " + std::to_string(threads_) +
           (threads_ == 1 ? " thread)" : " threads)");
  }
  [[nodiscard]] int lanes() const override { return static_cast<int>(lanes_.size()); }
  [[nodiscard]] int depth() const override { return kDepth; }
  [[nodiscard]] int parallelism() const override { return std::min(lanes(), threads_); }

  [[nodiscard]] std::span<std::uint8_t> input(int lane) override {
    return lanes_[lane].slot(lanes_[lane].submitted).picture.input();
  }

  void submit(std::span<const LaneFrame> frames) override {
    for (const LaneFrame& f : frames) {
      Lane& lane = lanes_[f.lane];
      Slot& slot = lane.slot(lane.submitted);
      slot.plan = f.plan;
      slot.frame = {};
      slot.frame.index = f.plan.index;
      slot.frame.key = f.plan.key;
      slot.frame.statistics.times.read = f.read_ms;
      slot.submitted = Clock::now();
      slot.finished = false;
      slot.fault = nullptr;
      {
        const std::lock_guard lock(mutex_);
        ++lane.submitted;
        if (!may_run(lane)) continue;
      }
      start([this, &lane] { run(lane); });
    }
  }

  [[nodiscard]] LaneResult collect(int /*feeder*/) override {
    std::unique_lock lock(mutex_);
    for (;;) {
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        Lane& lane = lanes_[i];
        if (lane.collected == lane.submitted) continue;
        Slot& slot = lane.slot(lane.collected);
        if (!slot.finished) continue;
        ++lane.collected;
        if (slot.fault) std::rethrow_exception(slot.fault);
        return {static_cast<int>(i), std::move(slot.frame)};
      }
      done_.wait(lock);
    }
  }

 private:
  /// A lane more than threads: where GOPs are few, none is left over to be coded alone.
  [[nodiscard]] int lane_count(const EncoderSettings& settings, int max_lanes) const {
    const int wanted = settings.execution.lanes > 0 ? settings.execution.lanes : threads_ == 1 ? 1 : threads_ + 1;
    return std::clamp(wanted, 1, std::max(1, max_lanes));
  }

  template <typename Task>
  void start(Task task) {
    {
      const std::lock_guard lock(mutex_);
      ++tasks_;
    }
    arena_.enqueue([this, task] {
      task();
      const std::lock_guard lock(mutex_);
      --tasks_;
      done_.notify_all();  // under the lock: the destructor may be what waits
    });
  }

  /// Whether somebody should now run the lane: there is a frame to be coded, syntax for it are free, and nobody does.
  /// The mutex is held.
  [[nodiscard]] static bool may_run(Lane& lane) {
    if (lane.running || lane.started == lane.submitted) return false;
    const std::int64_t before = lane.started - kCoding;  // the frame that had the same syntax
    if (before >= lane.collected && !lane.slot(before).finished) return false;
    lane.running = true;
    return true;
  }

  /// Takes the frames of a lane one after another until there are no more.
  void run(Lane& lane) {
    for (;;) {
      std::int64_t count = 0;
      {
        const std::lock_guard lock(mutex_);
        count = lane.started++;
      }
      Slot& slot = lane.slot(count);
      const std::int64_t frame = slot.plan.index;  // the slot may be another frame's once this one is written
      try {
        code(lane, count);
      } catch (...) {
        slot.fault = std::current_exception();
      }
      // With a lane for every thread nobody waits for the next frame's search, and the syntax are still in the cache.
      if (lanes_.size() >= static_cast<std::size_t>(threads_)) {
        write(lane, count);
        lane.trace.did("entropy", frame);
      } else {
        start([this, &lane, count, frame] {
          const auto index = static_cast<int>(&lane - lanes_.data());
          const TraceScope trace(settings_.measurement.trace, "entropy", TraceTrack::entropy, index, frame);
          write(lane, count);
        });
      }
      const std::lock_guard lock(mutex_);
      lane.running = false;
      if (!may_run(lane)) return;
    }
  }

  template <typename Row>
  void for_each_mcu_row(Row&& row) {
    // Isolated, or a thread that waits here could pick up another lane's whole frame meanwhile.
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(0, coder_.geometry().mcu_rows(), std::forward<Row>(row));
    });
  }

  /// Everything of a frame up to its syntax and reconstruction.
  void code(Lane& lane, std::int64_t count) {
    const Geometry& geometry = coder_.geometry();
    Slot& slot = lane.slot(count);
    FrameStatistics& statistics = slot.frame.statistics;
    lane.trace.did("no input", -1, slot.submitted);
    lane.trace.did("queued", slot.plan.index);  // for a thread, or for syntax
    slot.picture.lay_out();
    lane.trace.did("load", slot.plan.index);
    FrameSyntax& syntax = Lane::of(lane.syntax, count);
    syntax.key = slot.plan.key;
    const FrameJob job{.key = slot.plan.key,
                       .current = &slot.picture,
                       .reference = &Lane::of(lane.pictures, count + 1),
                       .reconstruction = &Lane::of(lane.pictures, count),
                       .syntax = &syntax,
                       .previous = &Lane::of(lane.syntax, count + 1),
                       .searchers = &lane.searchers,
                       .prediction = settings_.measurement.keep_prediction ? &lane.prediction : nullptr,
                       .motion = settings_.measurement.keep_motion && !slot.plan.key ? &slot.frame.motion : nullptr};
    if (job.motion != nullptr) {
      for (int p = 0; p < kPlanes; ++p) {
        const PlaneGeometry g = geometry.plane(p);
        slot.frame.motion[p] = {g.columns, g.rows, {}, std::vector<std::uint16_t>(static_cast<std::size_t>(g.blocks()))};
      }
    }

    const auto begin = Clock::now();
    if (!job.key) {
      coder_.begin_search(job);
      for_each_mcu_row([&](int row) { coder_.prepare_row(job, row); });
      coder_.prepare_search(job);
    }
    const auto begin_rows = Clock::now();
    std::mutex totals;
    Clock::duration search{};  // by all threads together, as the other two
    Clock::duration transform{};
    Clock::duration measure{};
    for_each_mcu_row([&](int row) {
      const auto start = Clock::now();
      const std::uint64_t sad = job.key ? 0 : coder_.search_row(job, row);
      const auto searched = Clock::now();
      coder_.code_row(job, row);
      const auto coded = Clock::now();
      std::array<std::uint64_t, kPlanes> errors{};
      if (settings_.measurement.psnr) errors = coder_.measure_row(job, row);
      const auto measured = Clock::now();
      const std::lock_guard lock(totals);
      statistics.luma_sad += sad;
      for (int p = 0; p < kPlanes; ++p) statistics.sse[p] += errors[p];
      search += searched - start;
      transform += coded - searched;
      measure += measured - coded;
    });
    const auto end_rows = Clock::now();
    hand_out(job, slot.frame);
    const auto end = Clock::now();

    // Stages take turns row by row; in the books they come one after another, each with its share of the frame's time.
    const double share = static_cast<double>((end_rows - begin_rows).count()) /
                         static_cast<double>(std::max<Clock::rep>(1, (search + transform + measure).count()));
    const auto scaled = [&](Clock::duration time) {
      return Clock::duration(static_cast<Clock::rep>(static_cast<double>(time.count()) * share));
    };
    const auto searched = job.key ? begin_rows : begin_rows + scaled(search);
    const auto coded = searched + scaled(transform);
    statistics.times.motion = job.key ? 0 : milliseconds(searched - begin);
    statistics.times.transform = milliseconds(coded - searched);
    statistics.times.measure = milliseconds(end - coded);
    if (!job.key) lane.trace.did("search", slot.plan.index, searched);
    lane.trace.did("code", slot.plan.index, coded);
    lane.trace.did("measure", slot.plan.index, end);
  }

  /// Copies what the settings ask for beside the coded bytes.
  void hand_out(const FrameJob& job, EncodedFrame& frame) const {
    const Geometry& geometry = coder_.geometry();
    if (job.motion != nullptr) {
      for (int p = 0; p < kPlanes; ++p) frame.motion[p].vectors = job.syntax->planes[p].vectors;
    }
    if (settings_.measurement.ssim || settings_.measurement.keep_reconstruction) {
      frame.reconstruction.resize(geometry.frame_bytes());
      job.reconstruction->copy_to(frame.reconstruction);
    }
    if (settings_.measurement.ssim) {
      std::vector<std::uint8_t> original(geometry.frame_bytes());
      job.current->copy_to(original);
      frame.statistics.ssim = ssim_of_frames(original, frame.reconstruction, geometry.width(), geometry.height());
      if (!settings_.measurement.keep_reconstruction) frame.reconstruction = {};
    }
    if (settings_.measurement.keep_prediction) {
      frame.prediction.resize(geometry.frame_bytes());
      job.prediction->copy_to(frame.prediction);
    }
  }

  /// Writes the coded frame, unless it failed before.
  void write(Lane& lane, std::int64_t count) {
    Slot& slot = lane.slot(count);
    if (!slot.fault) {
      try {
        write_bytes(Lane::of(lane.syntax, count), slot);
      } catch (...) {
        slot.fault = std::current_exception();
      }
    }
    bool run_again = false;
    {
      const std::lock_guard lock(mutex_);
      slot.finished = true;
      run_again = may_run(lane);
    }
    done_.notify_one();
    if (run_again) start([this, &lane] { run(lane); });
  }

  void write_bytes(const FrameSyntax& syntax, Slot& slot) const {
    const auto start_entropy = Clock::now();
    std::vector<std::uint8_t>& bytes = slot.frame.bytes;
    write_frame_header(bytes, coder_.geometry(), coder_.tables(), slot.plan.key);
    encode_scan(syntax, bytes, slot.frame.statistics.bits);
    write_frame_trailer(bytes);
    slot.frame.statistics.bits.header += 8 * (kFrameHeaderBytes + kFrameTrailerBytes);
    slot.frame.statistics.times.entropy = milliseconds_since(start_entropy);
  }

  EncoderSettings settings_;
  int threads_;
  const Kernels& kernels_;
  FrameCoder coder_;
  oneapi::tbb::global_control parallelism_;  ///< room for threads_ workers beside the caller
  oneapi::tbb::task_arena arena_;
  std::vector<Lane> lanes_;
  std::mutex mutex_;
  std::condition_variable done_;
  int tasks_ = 0;  ///< started and not yet ended
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const EncoderSettings& settings, int max_lanes) {
  return std::make_unique<CpuBackend>(settings, max_lanes);
}

}  // namespace c63::cpu
