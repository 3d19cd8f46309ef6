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
#include "decide/resolved_encode.h"
#include "c63/thread_arena.h"
#include "c63/trace.h"
#include "pipeline/frame_order.h"
#include "pipeline/frame_supply.h"
#include "pipeline/gop_queue.h"
#include "pipeline/lookahead.h"
#include "pipeline/stop_level.h"
#include "threads/change_signal.h"

namespace c63 {

/// What the devices of a run share.
struct RunParts {
  const ResolvedEncode& encode;
  FrameSupply& supply;
  GopQueue& gops;
  FrameOrder& order;
  ChangeSignal& changes;  ///< input arrived, frames were finished or delivered, or the run is to end
  std::function<void()> end_run;  ///< has all devices quit
  bool reads_side_by_side;        ///< frames, by the threads of the arena that feed() is called in
};

/// One device at work in a run. Two threads drive it: one that keeps the inputs of its chains filled, and one that takes what
/// it has finished.
class DeviceRun {
 public:
  DeviceRun(const RunParts& parts, Backend& backend, int index);

  /// What the feeding thread does: until no chain has a frame left, or the run ends.
  void feed();
  /// What the collecting thread does: until all that was submitted is finished and nothing more will be, or the run ends.
  void collect();

  /// Ends both threads before the video does: collect() goes on with the frames in flight at StopLevel::finish, and drops them
  /// at StopLevel::drop; the device is of no use afterwards.
  void stop(StopLevel level) noexcept;
  /// Frames that it has finished.
  [[nodiscard]] std::int64_t finished() const { return frames_finished_; }
  /// What went wrong on the device; null where nothing did.
  [[nodiscard]] std::exception_ptr fault();

 private:
  using Clock = std::chrono::steady_clock;

  /// A frame between submit() and collect().
  struct InFlight {
    Clock::time_point read;
    GlobalMotion global_motion;
    double lookahead_ms = 0;
    double filter_ms = 0;
    std::shared_ptr<GopPlanner> planner;
  };
  struct Chain {
    ChainPosition position;
    std::optional<Lookahead> lookahead;   ///< where the settings look ahead
    std::vector<std::uint8_t> last_luma;  ///< of the frame read last, where global motion is measured
    bool has_room = true;                 ///< as the feeding thread saw it last
    std::deque<InFlight> in_flight;       ///< guarded by mutex_
  };
  /// A frame on its way into a chain's input.
  struct Read {
    ChainFrame frame;
    std::int64_t index = 0;
    GlobalMotion global_motion;
    double lookahead_ms = 0;
    double filter_ms = 0;
    bool done = false;  ///< false: there is no such frame
    bool has_input = false;  ///< the chain's input was taken for it
    std::exception_ptr fault;
  };

  /// Fills reads_ with the next frames of chains that have room, as many as the device takes at once. False when no chain
  /// will have another frame.
  bool find_work();
  void read_frames();
  void read_frame(Read& read);
  /// Reads a frame of the source, and adds what that takes to the frame's time.
  bool read_source(Read& read, std::int64_t index, std::span<std::uint8_t> to);
  /// Has the frame's samples put into the chain's input, as they are to be coded, which `samples` is then, or says where they
  /// lie; and plans it. False where there is none.
  bool look_at(Read& read, std::span<const std::uint8_t>& samples);
  [[nodiscard]] GlobalMotion measure_global_motion(const ChainFrame& frame, std::span<const std::uint8_t> samples);
  void submit();
  [[nodiscard]] bool feeds_no_more() const { return stop_ >= StopLevel::finish; }
  [[nodiscard]] bool wait_for_frames_in_flight();
  void hand_over(std::vector<ChainResult>& results);
  void fail(std::exception_ptr fault);

  RunParts parts_;
  Backend& backend_;
  BackendInfo info_;
  std::vector<Chain> chains_;
  int most_reads_;       ///< frames that are read at the same time
  int first_chain_ = 0;  ///< whose turn it is
  std::vector<Read> reads_;
  std::vector<ChainFrame> batch_;
  double read_ms_ = 0;  ///< what reading a frame took last, and looking ahead
  int index_;           ///< of the device in the run
  std::atomic<std::int64_t> frames_finished_ = 0;
  std::vector<FinishedFrame> finished_;  ///< the collecting thread's
  TraceRow trace_;
  std::atomic<StopLevel> stop_ = StopLevel::none;

  std::mutex mutex_;  ///< guards what follows, and Chain::in_flight
  std::condition_variable submitted_;
  int in_flight_ = 0;
  bool fed_all_ = false;
  std::exception_ptr fault_;
};

}  // namespace c63
