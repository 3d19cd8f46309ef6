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

/// One run of a list of devices over the frames of a supply, from one key frame to the end. Every device has two threads, one
/// that feeds it and one that collects; the caller's thread delivers in order. So reading, encoding and writing go on at the
/// same time, and no finished frame is held back.
///
/// One more device may join while the run goes on. It takes over what the others have not finished, so that the CPU is free to
/// read frames for it.
class EncodeRun {
 public:
  struct Options {
    std::int64_t first_frame = 0;  ///< a key frame
    std::int64_t delivered = 0;    ///< frames that were delivered by an earlier run
    std::size_t window = 2;        ///< GOPs handed out before the first of them is delivered
    std::size_t most_waiting = 2;  ///< frames that wait to be delivered
    StopLevel first_stop = StopLevel::finish;  ///< what Stops::stop asks for
  };
  struct Stops {
    std::stop_token stop;
    std::stop_token drop;  ///< StopLevel::drop
  };

  /// A device that may join.
  struct Joining {
    JoiningDevice* device = nullptr;      ///< null: none will
    TimeLeft::Work work = {};             ///< all that is to be encoded
    int max_chains = 1;                   ///< that it may have
    bool may_take_over = true;            ///< the supply gives a frame a second time
  };

  EncodeRun(const ResolvedEncode& encode, std::span<const std::unique_ptr<Backend>> devices, FrameSupply& supply,
            ChangeSignal& changes, const Options& options, const Joining& joining);

  /// Calls `deliver` for the finished frames in order, then throws what a device or the supply threw.
  void run(TraceRow& trace, const Stops& stops, const std::function<void(FinishedFrame&&)>& deliver);

  /// The device that joined; null if none did. Called after run().
  [[nodiscard]] std::unique_ptr<Backend> take_joined() { return std::move(joined_); }
  /// Why the device could not join; empty if it could, or was not ready. Called after run().
  [[nodiscard]] const std::string& joining_problem() const { return joining_problem_; }

 private:
  /// A device at work, and its threads.
  struct Member {
    Member(const RunParts& parts, Backend& backend, int index, int readers) : reading_arena(readers), device(parts, backend, index) {}

    /// What the feeding thread runs in, so that reading has no more threads than coding. Of its own: all places of the one that
    /// the CPU computes in may be taken for as long as there is something to code.
    ThreadArena reading_arena;
    DeviceRun device;
    std::jthread collector;
    std::jthread feeder;
  };
  /// Ends a run and its threads when it is left.
  struct Ending {
    EncodeRun& run;
    ~Ending();
  };

  /// The device is a producer of the order's already. Under mutex_.
  void start(Backend& backend);
  void stop(StopLevel level) noexcept;
  void end() noexcept;
  /// What the joining thread does.
  void join();
  [[nodiscard]] double time_left();
  /// Under mutex_.
  void relieve_first();

  const ResolvedEncode& encode_;
  std::span<const std::unique_ptr<Backend>> first_;
  GopQueue gops_;
  FrameOrder order_;
  StopLevel first_stop_;
  FrameSupply& supply_;
  ChangeSignal& changes_;
  Joining joining_;
  TimeLeft time_left_;          ///< the joining thread's
  int readers_ = 1;             ///< threads that read for a device
  bool reads_side_by_side_ = false;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  std::unique_ptr<Backend> joined_;  ///< before members_, which use it
  std::string joining_problem_;
  std::stop_source stops_joining_;
  std::jthread joiner_;

  std::mutex mutex_;  ///< guards these
  std::list<Member> members_;  ///< the joined one is the last
  StopLevel stop_ = StopLevel::none;  ///< that the devices were told
};

}  // namespace c63
