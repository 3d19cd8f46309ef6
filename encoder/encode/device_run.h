#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "c63/trace.h"
#include "decide/resolved_encode.h"
#include "encode/frame_order.h"
#include "encode/frame_supply.h"
#include "encode/gop_queue.h"
#include "encode/lookahead.h"

namespace c63 {

/// How far a run still goes when it is stopped early. The level of a run only rises.
enum class StopLevel {
  none,
  drain,   ///< reads no more frames, and codes those that were read
  finish,  ///< gives devices no more frames, and codes those that devices already have
  drop,    ///< codes no more frames, and delivers those that are already coded
};

/// What the devices of a run share.
struct RunParts {
  const ResolvedEncode& encode;
  FrameSupply& supply;
  GopQueue& gops;
  FrameOrder& order;
  /// Notified when input arrived, when frames were finished or delivered, and when the run must end.
  ChangeSignal& changes;
  std::function<void()> end_run;  ///< ends the run on all devices
  bool reads_side_by_side;        ///< feed() may read several frames at the same time, with the threads of the pool
};

/// One device during a run. Two threads drive it: one fills the inputs of its chains, the other collects finished
/// frames.
class DeviceRun {
 public:
  DeviceRun(const RunParts& parts, Backend& backend, int index);

  /// Reads, plans and submits frames until no chain will get another frame, or until the run ends. The feeding thread
  /// calls this.
  void feed();
  /// Hands out finished frames until all are finished, or until the run ends. The collecting thread calls this.
  void collect();

  /// Makes feed() and collect() return before the end of the video. At StopLevel::finish, collect() still finishes the
  /// frames in flight. At StopLevel::drop, it drops them, and the device cannot be used any more.
  void stop(StopLevel level) noexcept;
  /// Returns the device's error, or null.
  [[nodiscard]] std::exception_ptr fault();

 private:
  using Clock = std::chrono::steady_clock;

  struct Chain {
    ChainPosition position;
    std::optional<Lookahead> lookahead;  ///< only if planners look ahead
    bool has_room = true;                ///< as seen by the feeding thread when it last looked
    /// The planner of each frame that the device holds, oldest first. Guarded by mutex_.
    std::deque<std::shared_ptr<GopPlanner>> in_flight;
  };
  /// A frame that is being read and planned.
  struct Read {
    ChainFrame frame;
    std::int64_t index = 0;
    bool done = false;       ///< false: there is no such frame
    bool has_input = false;  ///< the chain's input was taken for this frame
    std::exception_ptr fault;
  };

  /// Sets reads_ to the next frames of chains that have room for a frame, at most most_reads_ frames. Waits until there
  /// is one. Returns false when no chain will get another frame, or when the run ends.
  bool find_work();
  void read_frames();
  void read_frame(Read& read);
  /// Reads frame `index` of the source to `to`, and adds the time to read.frame.times.
  bool read_source(Read& read, std::int64_t index, std::span<std::uint8_t> to);
  /// Looks ahead if planners look ahead, and plans the frame. If its samples lie in place, sets read.frame.in_place to
  /// them. Otherwise writes them to the chain's input. Returns false if there is no such frame.
  bool prepare(Read& read);
  void submit();
  [[nodiscard]] bool feeds_no_more() const { return stop_ >= StopLevel::finish; }
  [[nodiscard]] bool wait_for_frames_in_flight();
  void hand_over(std::vector<CodedFrame>& coded);
  void fail(std::exception_ptr fault);

  RunParts parts_;
  Backend& backend_;
  BackendInfo info_;
  std::vector<Chain> chains_;
  int most_reads_;       ///< the most frames that are read at the same time
  int first_chain_ = 0;  ///< the chain that gets the next frame first
  std::vector<Read> reads_;
  std::vector<ChainFrame> batch_;
  double read_ms_ = 0;  ///< time that reading and look-ahead took for the last frame
  int index_;           ///< number of the device in the run
  TraceRow trace_;
  std::atomic<StopLevel> stop_ = StopLevel::none;

  std::mutex mutex_;  ///< guards the members below, and Chain::in_flight
  std::condition_variable submitted_;
  int in_flight_ = 0;
  bool fed_all_ = false;
  std::exception_ptr fault_;
};

}  // namespace c63
