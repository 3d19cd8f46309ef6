#include "encode/encode_run.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "c63/error.h"
#include "encode/worth_joining.h"
#include "threads/start_thread.h"

namespace c63 {

EncodeRun::EncodeRun(const ResolvedEncode& encode, std::span<const std::unique_ptr<Backend>> devices, FrameSupply& supply,
                     ChangeSignal& changes, const Options& options, const Joining& joining)
    : encode_(encode),
      first_(devices),
      gops_(supply, encode.planners,
            {encode.settings.coding.key_interval, encode.settings.coding.scene_cuts, options.first_frame,
             encode.lookahead.frames(), options.window}),
      order_(options.delivered, options.most_waiting),
      first_stop_(options.first_stop),
      supply_(supply),
      changes_(changes),
      joining_(joining),
      time_left_(joining.work) {
  // If the arena is a caller's, only one thread reads for each device: coding may keep all threads of that arena busy
  // during the whole run.
  const ThreadArena& arena = *encode.settings.execution.arena;
  readers_ = arena.is_callers() ? 1 : arena.concurrency();
  // Looking ahead gives several threads enough work, even if reading itself is fast.
  reads_side_by_side_ = readers_ > 1 && (supply.concurrent() || encode.lookahead.any());
}

void EncodeRun::run(TraceRow& trace, const Stops& stops, const std::function<void(FinishedFrame&&)>& deliver) {
  {
    const Ending ending{*this};
    // Before the devices start, so that nothing is coded if a stop has been requested already.
    const std::stop_callback on_stop(stops.stop, [this] { stop(first_stop_); });
    const std::stop_callback on_drop(stops.drop, [this] { stop(StopLevel::drop); });
    for (const auto& backend : first_) {
      order_.add_producer();
      const std::lock_guard lock(mutex_);
      start(*backend);
    }
    if (joining_.device != nullptr) joiner_ = start_thread([this] { join(); });
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
  for (Member& member : members_) {
    if (const std::exception_ptr fault = member.device.fault()) std::rethrow_exception(fault);
  }
  if (const std::exception_ptr fault = supply_.fault()) std::rethrow_exception(fault);
}

EncodeRun::Ending::~Ending() {
  run.end();
  if (run.joiner_.joinable()) run.joiner_.join();
  for (Member& member : run.members_) {
    if (member.collector.joinable()) member.collector.join();
    if (member.feeder.joinable()) member.feeder.join();
  }
}

void EncodeRun::start(Backend& backend) {
  const RunParts parts{encode_, supply_, gops_, order_, changes_, [this] { end(); }, reads_side_by_side_};
  bool collects = false;  // true: the collecting thread removes the producer at its end
  try {
    Member& member = members_.emplace_back(parts, backend, static_cast<int>(members_.size()), readers_);
    if (stop_ >= StopLevel::finish) member.device.stop(stop_);
    member.collector = start_thread([&device = member.device] { device.collect(); });
    collects = true;
    member.feeder = start_thread([&member] { member.reading_arena.execute([&] { member.device.feed(); }); });
  } catch (...) {
    if (collects) {
      members_.back().device.stop(StopLevel::drop);
    } else {
      order_.remove_producer();
    }
    throw;
  }
}

void EncodeRun::end() noexcept {
  order_.close();
  stops_joining_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    stop_ = StopLevel::drop;
    for (Member& member : members_) member.device.stop(stop_);
  }
  changes_.notify();
}

void EncodeRun::stop(StopLevel level) noexcept {
  stops_joining_.request_stop();
  if (level == StopLevel::drop) end();
  {
    // At StopLevel::finish, the devices are stopped before the supply. Otherwise a device that still runs would treat
    // the last frame that the supply has read as the end of the video.
    const std::lock_guard lock(mutex_);
    stop_ = std::max(stop_, level);
    if (level == StopLevel::finish) {
      for (Member& member : members_) member.device.stop(level);
    }
  }
  supply_.stop();
  changes_.notify();
}

void EncodeRun::join() {
  try {
    const std::stop_token stop = stops_joining_.get_token();
    const JoiningDevice::Worth& worth = joining_.device->worth();
    for (;;) {
      const std::uint64_t version = changes_.version();
      if (stop.stop_requested()) return;
      if (time_left() >= (joining_.device->ready() ? worth.opening_ms : worth.starting_ms)) break;
      changes_.wait_past(version);
    }
    joining_.device->begin();
    const std::optional<BackendFactory> factory = joining_.device->wait(stop);
    const double left = time_left();
    if (!factory || left < worth.opening_ms) return;
    struct Hold {
      EncodeRun& run;
      ~Hold() {
        run.gops_.hold(0);
        run.changes_.notify();
      }
    };
    const Hold hold{*this};
    // If much work is left, the first devices wait while the new one is opened. Opening takes twice as long while all
    // CPUs are busy. Also, most frames that the first devices coded in that time would be coded again.
    if (left >= worth.starting_ms) gops_.hold(static_cast<int>(first_.size()));
    joined_ = (*factory)(encode_, joining_.max_chains);
    const BackendInfo& info = joined_->info();
    const auto chains = static_cast<std::size_t>(info.chains);
    if (!order_.add_late_producer(chains * static_cast<std::size_t>(info.depth))) return;
    {
      const std::lock_guard lock(mutex_);
      if (stop_ == StopLevel::none) relieve_first();
      gops_.widen(2 * chains);
      start(*joined_);
    }
  } catch (const std::exception& problem) {
    joining_problem_ = problem.what();
  }
}

void EncodeRun::relieve_first() {
  const auto count = static_cast<int>(members_.size());
  gops_.reserve_for(count);
  if (!joining_.may_take_over) return;
  int device = 0;
  for (Member& member : members_) {
    member.device.stop(StopLevel::drop);
    gops_.take_back(device++);
  }
}

double EncodeRun::time_left() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return time_left_.estimate(members_.front().device.finished(),
                             Milliseconds(std::chrono::steady_clock::now() - started_).count());
}

}  // namespace c63
