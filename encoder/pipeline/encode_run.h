#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "decide/presets.h"
#include "pipeline/device_run.h"
#include "threads/start_thread.h"

namespace c63 {

/// One run of a list of devices over the frames of a supply, from one key frame to the end. Every device has two threads, one
/// that feeds it and one that collects; the caller's thread delivers in order. So reading, encoding and writing go on at the
/// same time, and no finished frame is held back.
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

  EncodeRun(const EncoderSettings& settings, ThreadArena& arena, std::span<const std::unique_ptr<Backend>> devices,
            FrameSupply& supply, ChangeSignal& changes, PlannerFactory planners, const Options& options)
      : gops_(supply, std::move(planners),
              {settings.coding.key_interval, settings.coding.scene_cuts, options.first_frame,
               preset_decisions(settings.coding).lookahead.frames(), options.window}),
        order_(options.delivered, options.most_waiting),
        first_stop_(options.first_stop),
        supply_(supply),
        changes_(changes) {
    // A caller's arena may be full for as long as this run goes on: beside one, each device's frames are read by one thread.
    const int readers = arena.is_callers() ? 1 : arena.concurrency();
    // Looking ahead is some work, whatever reading is.
    const bool side_by_side = readers > 1 && (supply.concurrent() || preset_decisions(settings.coding).lookahead.any());
    int index = 0;
    for (const auto& device : devices) {
      devices_.emplace_back(RunParts{settings, supply, gops_, order_, changes, [this] { end(); }, side_by_side}, *device,
                            index++);
      reading_arenas_.emplace_back(readers);
    }
  }

  /// Calls `deliver` for the finished frames in order, then throws what a device or the supply threw.
  void run(TraceRow& trace, const Stops& stops, const std::function<void(FinishedFrame&&)>& deliver) {
    {
      std::vector<std::jthread> threads;
      threads.reserve(2 * devices_.size());  // a thread that found no place would be waited for before it is told to end
      const End on_leaving{*this};  // before the threads are joined
      auto reading_arena = reading_arenas_.begin();
      for (DeviceRun& device : devices_) {
        order_.add_producer();
        try {
          threads.push_back(start_thread([&device] { device.collect(); }));
        } catch (...) {
          order_.remove_producer();
          throw;
        }
        threads.push_back(start_thread([&device, &arena = *reading_arena++] { arena.execute([&] { device.feed(); }); }));
      }
      const std::stop_callback on_stop(stops.stop, [this] { stop(first_stop_); });
      const std::stop_callback on_drop(stops.drop, [this] { stop(StopLevel::drop); });
      std::vector<FinishedFrame> frames;
      while (order_.take(frames)) {
        trace.did("wait");
        for (FinishedFrame& frame : frames) {
          if (frame.frame.key) {
            gops_.delivered_before(frame.frame.index);
            changes_.notify();
          }
          deliver(std::move(frame));
        }
      }
      trace.did("wait");
    }
    for (DeviceRun& device : devices_) {
      if (const std::exception_ptr fault = device.fault()) std::rethrow_exception(fault);
    }
    if (const std::exception_ptr fault = supply_.fault()) std::rethrow_exception(fault);
  }

 private:
  struct End {
    EncodeRun& run;
    ~End() { run.end(); }
  };

  void end() noexcept {
    order_.close();
    for (DeviceRun& device : devices_) device.stop(StopLevel::drop);
  }

  void stop(StopLevel level) noexcept {
    // Devices first: to them the end of what was read is the end of the video.
    if (level == StopLevel::finish) {
      for (DeviceRun& device : devices_) device.stop(level);
    }
    if (level == StopLevel::drop) end();
    supply_.stop();
    changes_.notify();
  }

  GopQueue gops_;
  FrameOrder order_;
  StopLevel first_stop_;
  FrameSupply& supply_;
  ChangeSignal& changes_;
  /// What the devices' feeding threads run in, so that reading has no more threads than coding. Of their own: all places of the
  /// one that the CPU computes in may be taken for as long as there is something to code.
  std::list<ThreadArena> reading_arenas_;
  std::list<DeviceRun> devices_;
};

}  // namespace c63
