#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "c63/joining_device.h"
#include "c63/thread_arena.h"
#include "encode/device_run.h"
#include "encode/worth_joining.h"

namespace c63 {

/// Encodes the frames of a supply with a list of devices, from a key frame to the end. Each device has two threads: one
/// submits frames, the other collects results. The caller's thread delivers frames in order. So reading, encoding and
/// writing overlap.
///
/// One more device may join during the run. It gets all further GOPs. If the supply can supply frames twice, it also
/// takes over the unfinished GOPs. The CPU is then free to read frames for it.
class EncodeRun {
 public:
  struct Options {
    std::int64_t first_frame = 0;  ///< a key frame
    std::int64_t delivered = 0;    ///< frames that an earlier run delivered
    std::size_t window = 2;        ///< the most GOPs that may be started before the first of them is delivered
    std::size_t most_waiting = 2;  ///< the most finished frames that may wait to be delivered
    StopLevel first_stop = StopLevel::finish;  ///< the level of a request by Stops::stop
  };
  struct Stops {
    std::stop_token stop;
    std::stop_token drop;  ///< a request stops the run at StopLevel::drop
  };

  /// A device that may join.
  struct Joining {
    JoiningDevice* device = nullptr;      ///< null: no device will join
    TimeLeft::Work work = {};             ///< the work of the whole encode
    int max_chains = 1;                   ///< the most chains that it may have
    bool may_take_over = true;            ///< false: the supply cannot supply a frame twice
  };

  EncodeRun(const ResolvedEncode& encode, std::span<const std::unique_ptr<Backend>> devices, FrameSupply& supply,
            ChangeSignal& changes, const Options& options, const Joining& joining);

  /// Calls `deliver` for each finished frame, in order. Then throws the error of a device or of the supply, if there is
  /// one.
  void run(TraceRow& trace, const Stops& stops, const std::function<void(FinishedFrame&&)>& deliver);

  /// Returns the device that joined, or null. Call it after run().
  [[nodiscard]] std::unique_ptr<Backend> take_joined() { return std::move(joined_); }
  /// Returns the error because of which the device could not join. Empty if there was none: the device joined, or too
  /// little work was left for it. Call it after run().
  [[nodiscard]] const std::string& joining_problem() const { return joining_problem_; }

 private:
  /// A device of the run, and its threads.
  struct Member {
    Member(const RunParts& parts, Backend& backend, int index, int readers) : reading_arena(readers), device(parts, backend, index) {}

    /// The arena in which the feeding thread reads. It has no more threads than the arena in which the CPU codes, so
    /// ExecutionSettings::threads also limits reading. It is a separate arena, because coding may occupy all threads of
    /// the other arena until the last frame.
    ThreadArena reading_arena;
    DeviceRun device;
    std::jthread collector;
    std::jthread feeder;
  };
  /// A guard: its destructor ends the run and waits for the run's threads.
  struct Ending {
    EncodeRun& run;
    ~Ending();
  };

  /// Starts the threads of a device. The caller has added it to order_ and holds mutex_.
  void start(Backend& backend);
  void stop(StopLevel level) noexcept;
  void end() noexcept;
  /// Waits until the joining device is ready, opens it, and adds it to the run. Does nothing if too little work is
  /// left. The joining thread calls this.
  void join();
  [[nodiscard]] double time_left();
  /// Gives no more GOPs to the first devices. If frames can be read again, also stops these devices and gives their
  /// unfinished GOPs to the joining device. The caller holds mutex_.
  void relieve_first();

  const ResolvedEncode& encode_;
  std::span<const std::unique_ptr<Backend>> first_;
  GopQueue gops_;
  FrameOrder order_;
  StopLevel first_stop_;
  FrameSupply& supply_;
  ChangeSignal& changes_;
  Joining joining_;
  TimeLeft time_left_;          ///< only used by the joining thread
  int readers_ = 1;             ///< threads that read for each device
  bool reads_side_by_side_ = false;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  std::unique_ptr<Backend> joined_;  ///< declared before members_, which refer to it
  std::string joining_problem_;
  std::stop_source stops_joining_;
  std::jthread joiner_;

  std::mutex mutex_;  ///< guards the members below
  std::list<Member> members_;  ///< the device that joined is the last one
  StopLevel stop_ = StopLevel::none;  ///< the highest level that was requested; end() requests drop
};

}  // namespace c63
