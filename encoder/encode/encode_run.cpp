#include "encode/encode_run.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "c63/error.h"
#include "threads/start_thread.h"

namespace c63 {

EncodeRun::EncodeRun(const ResolvedEncode& encode, std::span<const std::unique_ptr<Backend>> devices, FrameSupply& supply,
                     ChangeSignal& changes, const Options& options)
    : encode_(encode),
      devices_(devices),
      gops_(supply, encode, options.first_frame, options.window),
      order_(options.delivered, options.most_waiting),
      first_stop_(options.first_stop),
      supply_(supply),
      changes_(changes),
      // Looking ahead gives several threads enough work, even if reading itself is fast.
      reads_side_by_side_(supply.concurrent() || encode.lookahead.any()) {}

void EncodeRun::run(TraceRow& trace, const Stops& stops, const std::function<void(CodedFrame&&)>& deliver) {
  {
    const Ending ending{*this};
    // Before the devices start, so that nothing is coded if a stop has been requested already.
    const std::stop_callback on_stop(stops.stop, [this] { stop(first_stop_); });
    const std::stop_callback on_drop(stops.drop, [this] { stop(StopLevel::drop); });
    for (const auto& backend : devices_) {
      order_.add_producer();
      const std::lock_guard lock(mutex_);
      start(*backend);
    }
    std::vector<CodedFrame> frames;
    while (order_.take(frames)) {
      trace.did("wait");
      for (CodedFrame& frame : frames) {
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
  if (!stops.stop.stop_requested() && !stops.drop.stop_requested()) check_complete();
}

EncodeRun::Ending::~Ending() {
  run.end();
  for (Member& member : run.members_) {
    if (member.collector.joinable()) member.collector.join();
    if (member.feeder.joinable()) member.feeder.join();
  }
}

void EncodeRun::start(Backend& backend) {
  const RunParts parts{encode_, supply_, gops_, order_, changes_, [this] { end(); }, reads_side_by_side_};
  bool collects = false;  // true: the collecting thread removes the producer at its end
  try {
    Member& member = members_.emplace_back(parts, backend, static_cast<int>(members_.size()));
    if (stop_ >= StopLevel::finish) member.device.stop(stop_);
    member.collector = start_thread([&device = member.device] { device.collect(); });
    collects = true;
    // The feeding thread reads with the pool's threads, so ExecutionSettings::threads also limits reading.
    member.feeder = start_thread(
        [&pool = *encode_.settings.execution.pool, &device = member.device] { pool.execute([&] { device.feed(); }); });
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
  {
    const std::lock_guard lock(mutex_);
    stop_ = StopLevel::drop;
    for (Member& member : members_) member.device.stop(stop_);
  }
  changes_.notify();
}

void EncodeRun::stop(StopLevel level) noexcept {
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

void EncodeRun::check_complete() {
  const std::int64_t delivered = order_.next();
  const std::optional<std::int64_t> frames = supply_.frames();
  if (frames == delivered) return;
  const std::string counts = std::to_string(delivered) + " of " + (frames ? std::to_string(*frames) : "an unknown number of") + " frames";
  if (supply_.state(delivered) == FrameState::none) {
    throw Error(ErrorKind::input, "C63-SOURCE-SHORT", "the input ended after " + counts);
  }
  throw Error(ErrorKind::internal, "C63-FRAMES-LOST", "the encode ended after " + counts);
}

}  // namespace c63
