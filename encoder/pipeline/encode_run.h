#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "c63/joining_device.h"
#include "pipeline/device_run.h"
#include "pipeline/worth_joining.h"

namespace c63 {

/// One run of a list of devices over the frames of a supply, from a key frame to the end. Each device has two threads: one feeds it,
/// one collects. The caller's thread delivers in order. So reading, encoding and writing overlap, and no finished frame waits.
///
/// One more device may join during the run. It takes over all unfinished GOPs, so that the CPU is free to read frames for it.
class EncodeRun {
 public:
  struct Options {
    std::int64_t first_frame = 0;  ///< a key frame
    std::int64_t delivered = 0;    ///< frames that an earlier run delivered
    std::size_t window = 2;        ///< GOPs that may be in work before the first of them is delivered
    std::size_t most_waiting = 2;  ///< frames that may wait to be delivered
    StopLevel first_stop = StopLevel::finish;  ///< the level that Stops::stop asks for
  };
  struct Stops {
    std::stop_token stop;
    std::stop_token drop;  ///< asks for StopLevel::drop
  };

  /// A device that may join.
  struct Joining {
    JoiningDevice* device = nullptr;      ///< null if none will
    TimeLeft::Work work = {};             ///< the whole encode
    int max_chains = 1;                   ///< the most chains that it may have
    bool may_take_over = true;            ///< false if the supply cannot give a frame a second time
  };

  EncodeRun(const ResolvedEncode& encode, std::span<const std::unique_ptr<Backend>> devices, FrameSupply& supply,
            ChangeSignal& changes, const Options& options, const Joining& joining);

  /// Calls `deliver` for each finished frame, in order. Then throws the error of a device or of the supply, if there is one.
  void run(TraceRow& trace, const Stops& stops, const std::function<void(FinishedFrame&&)>& deliver);

  /// Returns the device that joined, or null. Called after run().
  [[nodiscard]] std::unique_ptr<Backend> take_joined() { return std::move(joined_); }
  /// Returns why the device could not join; empty if it joined or was not ready. Called after run().
  [[nodiscard]] const std::string& joining_problem() const { return joining_problem_; }

 private:
  /// A device at work, and its threads.
  struct Member {
    Member(const RunParts& parts, Backend& backend, int index, int readers) : reading_arena(readers), device(parts, backend, index) {}

    /// The arena of the feeding thread, so that reading has no more threads than coding. It is not the arena that the CPU codes in:
    /// all places of that one may be taken as long as there is a frame to code.
    ThreadArena reading_arena;
    DeviceRun device;
    std::jthread collector;
    std::jthread feeder;
  };
  /// Ends a run and its threads in its destructor.
  struct Ending {
    EncodeRun& run;
    ~Ending();
  };

  /// Starts a device that is already a producer of order_. The caller holds mutex_.
  void start(Backend& backend);
  void stop(StopLevel level) noexcept;
  void end() noexcept;
  /// The joining thread's work.
  void join();
  [[nodiscard]] double time_left();
  /// The caller holds mutex_.
  void relieve_first();

  const ResolvedEncode& encode_;
  std::span<const std::unique_ptr<Backend>> first_;
  GopQueue gops_;
  FrameOrder order_;
  StopLevel first_stop_;
  FrameSupply& supply_;
  ChangeSignal& changes_;
  Joining joining_;
  TimeLeft time_left_;          ///< used by the joining thread alone
  int readers_ = 1;             ///< threads that read for a device
  bool reads_side_by_side_ = false;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  std::unique_ptr<Backend> joined_;  ///< declared before members_, which use it
  std::string joining_problem_;
  std::stop_source stops_joining_;
  std::jthread joiner_;

  std::mutex mutex_;  ///< guards the members below
  std::list<Member> members_;  ///< the joined device is the last
  StopLevel stop_ = StopLevel::none;  ///< the level that devices were told last
};

}  // namespace c63
