#include "cpu/cpu_backend.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
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

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// One frame between submit() and collect(): its input, its symbols, and what becomes of it.
struct Slot {
  std::vector<std::uint8_t> input;
  FrameSymbols symbols;
  FramePlan plan;
  EncodedFrame frame;
  bool finished = false;
  std::exception_ptr fault;
};

/// A chain of dependent frames. The search of one frame needs only the reconstruction of the one before, so its entropy
/// coding runs beside the next frame's search.
struct Lane {
  std::vector<Slot> slots;
  PaddedPicture current;
  std::array<PaddedPicture, 2> pictures;  ///< reconstruction and reference, in turns
  PaddedPicture prediction;
  int reconstruction = 0;                 ///< index in pictures of the next one to be written

  // Counters of frames; a frame's slot is its count modulo the number of slots. Guarded by the backend's mutex.
  std::int64_t submitted = 0;
  std::int64_t started = 0;
  std::int64_t collected = 0;
  bool running = false;

  [[nodiscard]] Slot& slot(std::int64_t count) {
    return slots[static_cast<std::size_t>(count % static_cast<std::int64_t>(slots.size()))];
  }
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(const EncoderSettings& settings, int max_lanes)
      : settings_(settings),
        threads_(settings.threads > 0 ? settings.threads
                                      : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
        kernels_(kernels(settings.simd)),
        coder_(settings, kernels_),
        parallelism_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads_) + 1),
        arena_(threads_, 0),
        lanes_(static_cast<std::size_t>(
            std::clamp(settings.lanes > 0 ? settings.lanes : threads_, 1, std::max(1, max_lanes)))) {
    const Geometry& geometry = coder_.geometry();
    for (Lane& lane : lanes_) {
      lane.slots.resize(kDepth);
      for (Slot& slot : lane.slots) {
        slot.input.resize(geometry.frame_bytes());
        slot.symbols = FrameSymbols(geometry);
      }
      lane.current = PaddedPicture(geometry);
      for (PaddedPicture& picture : lane.pictures) picture = PaddedPicture(geometry);
      if (settings.keep_prediction) lane.prediction = PaddedPicture(geometry);
    }
  }

  ~CpuBackend() override {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return tasks_ == 0; });
  }

  [[nodiscard]] std::string description() const override {
    return "cpu (" + std::string(name(kernels_.level)) + ", " + std::to_string(threads_) +
           (threads_ == 1 ? " thread)" : " threads)");
  }
  [[nodiscard]] int lanes() const override { return static_cast<int>(lanes_.size()); }
  [[nodiscard]] int depth() const override { return kDepth; }

  [[nodiscard]] std::span<std::uint8_t> input(int lane) override {
    return lanes_[lane].slot(lanes_[lane].submitted).input;
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
      slot.finished = false;
      slot.fault = nullptr;
      {
        const std::lock_guard lock(mutex_);
        ++lane.submitted;
        if (std::exchange(lane.running, true)) continue;
      }
      start([this, &lane] { run(lane); });
    }
  }

  [[nodiscard]] LaneResult collect() override {
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
  static constexpr int kDepth = 3;  ///< one being searched, one being entropy coded, one being read

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

  /// Takes the frames of a lane one after another until there are no more.
  void run(Lane& lane) {
    for (;;) {
      Slot* slot = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (lane.started == lane.submitted) {
          lane.running = false;
          return;
        }
        slot = &lane.slot(lane.started++);
      }
      try {
        code(lane, *slot);
        start([this, &lane, slot] {
          try {
            write(lane, *slot);
          } catch (...) {
            slot->fault = std::current_exception();
          }
          finish(*slot);
        });
      } catch (...) {
        slot->fault = std::current_exception();
        finish(*slot);
      }
    }
  }

  void finish(Slot& slot) {
    {
      const std::lock_guard lock(mutex_);
      slot.finished = true;
    }
    done_.notify_one();
  }

  /// Reports what ran from `start` until now.
  void trace(const char* what, TraceTrack track, const Lane& lane, const Slot& slot, Clock::time_point start) const {
    if (settings_.trace == nullptr) return;
    const auto index = static_cast<int>(&lane - lanes_.data());
    settings_.trace->span({what, track, index, slot.plan.index, start, Clock::now()});
  }

  template <typename Row>
  void for_each_mcu_row(Row&& row) {
    // Isolated, or a thread that waits here could pick up another lane's whole frame meanwhile.
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(0, coder_.geometry().mcu_rows(), std::forward<Row>(row));
    });
  }

  /// Everything of a frame up to its symbols and reconstruction.
  void code(Lane& lane, Slot& slot) {
    const Geometry& geometry = coder_.geometry();
    FrameStatistics& statistics = slot.frame.statistics;
    const auto start_load = Clock::now();
    lane.current.assign(slot.input);
    trace("load", TraceTrack::lane, lane, slot, start_load);
    PaddedPicture& reconstruction = lane.pictures[lane.reconstruction];
    FrameJob job{.key = slot.plan.key,
                 .current = &lane.current,
                 .reference = &lane.pictures[1 - lane.reconstruction],
                 .reconstruction = &reconstruction,
                 .symbols = &slot.symbols,
                 .prediction = settings_.keep_prediction ? &lane.prediction : nullptr};
    slot.symbols.key = slot.plan.key;

    if (!slot.plan.key) {
      const auto start_motion = Clock::now();
      if (settings_.keep_motion) {
        job.motion = &slot.frame.motion;
        for (int p = 0; p < kPlanes; ++p) {
          const PlaneGeometry g = geometry.plane(p);
          slot.frame.motion[p] = {g.columns, g.rows, {}, std::vector<std::uint16_t>(g.blocks())};
        }
      }
      std::atomic<std::uint64_t> luma_sad = 0;
      for_each_mcu_row([&](int row) { luma_sad += coder_.search_row(job, row); });
      statistics.luma_sad = luma_sad;
      if (settings_.keep_motion) {
        for (int p = 0; p < kPlanes; ++p) slot.frame.motion[p].vectors = slot.symbols.planes[p].vectors;
      }
      statistics.times.motion = milliseconds_since(start_motion);
      trace("search", TraceTrack::lane, lane, slot, start_motion);
    }

    const auto start_transform = Clock::now();
    for_each_mcu_row([&](int row) { coder_.code_row(job, row); });
    statistics.times.transform = milliseconds_since(start_transform);
    trace("code", TraceTrack::lane, lane, slot, start_transform);

    const auto start_measure = Clock::now();
    if (settings_.measure_psnr) {
      const auto planes = split_planes(std::span<const std::uint8_t>(slot.input), geometry.width(), geometry.height());
      for (int p = 0; p < kPlanes; ++p) {
        statistics.sse[p] =
            kernels_.squared_error(planes[p].data(), reconstruction.coded(p).data(), planes[p].size());
      }
    }
    if (settings_.measure_ssim || settings_.keep_reconstruction) {
      slot.frame.reconstruction.resize(geometry.frame_bytes());
      reconstruction.copy_to(slot.frame.reconstruction);
    }
    if (settings_.measure_ssim) {
      statistics.ssim =
          ssim_of_frames(slot.input, slot.frame.reconstruction, geometry.width(), geometry.height());
      if (!settings_.keep_reconstruction) slot.frame.reconstruction = {};
    }
    if (settings_.keep_prediction) {
      slot.frame.prediction.resize(geometry.frame_bytes());
      lane.prediction.copy_to(slot.frame.prediction);
    }
    statistics.times.measure = milliseconds_since(start_measure);
    trace("measure", TraceTrack::lane, lane, slot, start_measure);
    lane.reconstruction = 1 - lane.reconstruction;
  }

  /// Writes the coded frame.
  void write(const Lane& lane, Slot& slot) const {
    const auto start_entropy = Clock::now();
    std::vector<std::uint8_t>& bytes = slot.frame.bytes;
    write_frame_header(bytes, coder_.geometry(), coder_.tables(), slot.plan.key);
    encode_scan(slot.symbols, bytes, slot.frame.statistics.bits);
    write_frame_trailer(bytes);
    slot.frame.statistics.bits.header += 8 * (kFrameHeaderBytes + kFrameTrailerBytes);
    slot.frame.statistics.times.entropy = milliseconds_since(start_entropy);
    trace("entropy", TraceTrack::entropy, lane, slot, start_entropy);
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
