#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>

#include "encode/device_run.h"

namespace c63 {

/// Encodes the frames of a supply with a list of devices, from a key frame to the end. Each device has two threads: one
/// submits frames, the other collects results. The caller's thread delivers frames in order. So reading, encoding and
/// writing overlap.
///
/// A run that ends without an error and without a stop has delivered every frame of its input: check_complete().
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

  EncodeRun(const ResolvedEncode& encode, std::span<const std::unique_ptr<Backend>> devices, FrameSupply& supply,
            ChangeSignal& changes, const Options& options);

  /// Calls `deliver` for each finished frame, in order. Then throws the error of a device or of the supply, if there is
  /// one.
  void run(TraceRow& trace, const Stops& stops, const std::function<void(CodedFrame&&)>& deliver);

 private:
  /// A device of the run, and its threads.
  struct Member {
    Member(const RunParts& parts, Backend& backend, int index) : device(parts, backend, index) {}

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
  /// Throws an error unless the run has delivered all frames of its input: Error (input, C63-SOURCE-SHORT) if the source
  /// has fewer frames than it said, else Error (internal, C63-FRAMES-LOST).
  void check_complete();

  const ResolvedEncode& encode_;
  std::span<const std::unique_ptr<Backend>> devices_;
  GopQueue gops_;
  FrameOrder order_;
  StopLevel first_stop_;
  FrameSupply& supply_;
  ChangeSignal& changes_;
  bool reads_side_by_side_;

  std::mutex mutex_;  ///< guards the members below
  std::list<Member> members_;
  StopLevel stop_ = StopLevel::none;  ///< the highest level that was requested; end() requests drop
};

}  // namespace c63
