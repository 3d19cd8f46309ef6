#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "c63/encoder.h"
#include "c63/filters.h"
#include "c63/trace.h"
#include "codec/geometry.h"
#include "pipeline/backend.h"
#include "pipeline/frame_feeder.h"
#include "pipeline/gop_scheduler.h"

namespace c63 {

/// One run of a backend over the frames of a source, from one key frame to the end. Threads of its own, one for each group
/// of lanes (Backend::feeders()), read frames and submit them; the caller's thread delivers, and collects unless the
/// backend is in a hurry (Backend::needs_collector()): then each group has a thread for that, too. So reading, encoding and writing
/// go on at the same time, and a live source holds no finished frame back.
class EncodeRun {
 public:
  using Clock = std::chrono::steady_clock;

  EncodeRun(const EncoderSettings& settings, Backend& backend, FrameFeeder& source, SceneCuts* cuts,
            std::int64_t first_frame, TraceRow& loop)
      : settings_(settings), backend_(backend), source_(source), loop_(loop),
        scheduler_(settings.coding.key_interval, first_frame, cuts), lanes_(static_cast<std::size_t>(backend.lanes())),
        last_luma_(lanes_.size()), in_lane_(lanes_.size()), read_at_(lanes_.size()), motions_(lanes_.size()) {}

  /// Calls `deliver` for finished frames of any lane until all are done. Faults of the source end the video before the
  /// frame they concern and are thrown when every frame before it has been delivered.
  void run(const std::stop_token& stop, const std::function<void(EncodedFrame&&, Clock::time_point read)>& deliver) {
    std::vector<std::jthread> threads;
    const Quit quit{*this};  // before they are joined
    const int feeders = backend_.feeders();
    fed_.resize(static_cast<std::size_t>(feeders));
    collectors_ = feeders;
    for (int i = 0; i < feeders; ++i) {
      threads.emplace_back([this, &stop, i] { feed(stop, i); });
      if (backend_.needs_collector()) threads.emplace_back([this, i] { collect_frames(i); });
    }
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

  static double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  /// A frame on its way into a lane's input.
  struct Read {
    LaneFrame frame;
    bool done = false;  ///< false: there is no such frame, or it cannot be read
    std::exception_ptr fault;
  };

  /// What a feeder has done.
  struct Fed {
    int in_flight = 0;  ///< frames submitted and not collected
    bool ended = false;
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
    if (!backend_.needs_collector() && !collect_some(0)) collectors_ = 0;
    {
      std::unique_lock lock(mutex_);
      finished_some_.wait(lock, [this] { return !finished_.empty() || collectors_ == 0; });
      std::swap(delivering_, finished_);
    }
    taken_.notify_all();
    loop_.did("wait");
    return !delivering_.empty();
  }

  /// Takes frames of a feeder that the backend has finished, at least one, and makes room in their lanes; false when there are
  /// none.
  bool collect_some(int feeder) {
    const int in_flight = wait_for_frames(feeder);
    if (in_flight == 0) return false;
    // What is finished is taken together, so that the lanes' next frames are read together.
    std::vector<LaneResult> results;
    do {
      results.push_back(backend_.collect(feeder));
    } while (static_cast<int>(results.size()) < in_flight && backend_.ready(feeder));
    hand_over(feeder, results);
    return true;
  }

  /// What the thread does that only collects.
  void collect_frames(int feeder) {
    try {
      while (collect_some(feeder)) {
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fault_) fault_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      --collectors_;
    }
    submitted_.notify_all();  // the others are to see a fault
    taken_.notify_all();
    finished_some_.notify_one();
  }

  /// Waits until frames of a feeder are in flight and no more are waiting to be delivered than lanes hold, and says how many
  /// are in flight; none when all are collected or something failed.
  int wait_for_frames(int feeder) {
    std::unique_lock lock(mutex_);
    const Fed& fed = fed_[static_cast<std::size_t>(feeder)];
    submitted_.wait(lock, [&] { return fed.in_flight > 0 || fed.ended || fault_ || quit_; });
    const std::size_t most = lanes_.size() * static_cast<std::size_t>(backend_.depth());
    taken_.wait(lock, [this, most] { return finished_.size() < most || fault_ || quit_; });
    return fault_ || quit_ ? 0 : fed.in_flight;
  }

  /// From the backend to whom delivers.
  void hand_over(int feeder, std::vector<LaneResult>& results) {
    {
      const std::lock_guard lock(mutex_);
      for (LaneResult& result : results) {
        --in_lane_[result.lane];
        if (settings_.measurement.global_motion) {
          result.frame.statistics.global_motion = motions_[result.lane].front();
          motions_[result.lane].pop_front();
        }
        std::deque<Clock::time_point>& read = read_at_[result.lane];
        finished_.push_back({std::move(result.frame), read.front()});
        read.pop_front();
      }
      fed_[static_cast<std::size_t>(feeder)].in_flight -= static_cast<int>(results.size());
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
      TraceRow trace(settings_.measurement.trace, TraceTrack::feeder, feeder);
      while (plan_frames(stop, feeder, first_lane, reads)) {
        trace.did(settings_.coding.scene_cuts ? "scene cuts and wait" : "wait");
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
          fed_[static_cast<std::size_t>(feeder)].in_flight += static_cast<int>(batch.size());
        }
        submitted_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fault_) fault_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      fed_[static_cast<std::size_t>(feeder)].ended = true;
    }
    submitted_.notify_all();
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
    return LaneFrame{.lane = lane, .plan = {index, index == *state.key}};
  }

  void read_frame(Read& read) {
    const TraceScope trace(settings_.measurement.trace, "read", TraceTrack::input, read.frame.lane, read.frame.plan.index);
    const auto start = Clock::now();
    try {
      std::span<const std::uint8_t> samples = read.frame.in_place;
      read.done = !samples.empty();
      if (!read.done) {
        const std::span<std::uint8_t> input = backend_.input(read.frame.lane);
        read.done = source_.read(read.frame.plan.index, input);
        samples = input;
      }
      if (read.done && settings_.measurement.global_motion) measure_global_motion(read.frame, samples);
    } catch (...) {
      read.fault = std::current_exception();
    }
    read.frame.read_ms = milliseconds_since(start);
  }

  void measure_global_motion(const LaneFrame& frame, std::span<const std::uint8_t> samples) {
    const int width = settings_.coding.width, height = settings_.coding.height;
    const auto luma = samples.first(plane_bytes(width, height, 0));
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
    std::size_t work = 0;  // frames that take some time
    for (Read& read : reads) {
      const std::span<const std::uint8_t> samples = source_.in_place(read.frame.plan.index);
      if (!samples.empty() && backend_.takes(samples)) read.frame.in_place = samples;
      if (read.frame.in_place.empty() || settings_.measurement.global_motion) ++work;
    }
    if (source_.concurrent() && work > 1) {
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
      } else if (read.frame.in_place.empty()) {
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
  std::int64_t releases_ = 0;              ///< how often there was new room
  std::vector<Fed> fed_;                   ///< by feeder
  std::vector<Finished> finished_;
  int collectors_ = 0;          ///< that have not ended; none: there will be no more finished ones
  bool quit_ = false;
  std::exception_ptr fault_;  ///< what the backend threw

  std::vector<Finished> delivering_;  ///< the caller's
};

}  // namespace c63
