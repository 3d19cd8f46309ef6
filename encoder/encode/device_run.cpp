#include "encode/device_run.h"

#include <algorithm>
#include <utility>

#include "c63/thread_pool.h"

namespace c63 {

DeviceRun::DeviceRun(const RunParts& parts, Backend& backend, int index)
    : parts_(parts),
      backend_(backend),
      info_(backend.info()),
      chains_(static_cast<std::size_t>(info_.chains)),
      most_reads_(info_.inputs),
      index_(index),
      trace_(parts.encode.settings.measurement.trace, TraceTrack::feeder, index) {
  const LookaheadDecisions& lookahead = parts.encode.lookahead;
  if (!lookahead.any()) return;
  for (int i = 0; i < info_.chains; ++i) {
    chains_[static_cast<std::size_t>(i)].lookahead.emplace(parts.encode.geometry, cpu::kernels(parts.encode.settings.execution.simd), lookahead,
                                                           backend.source_frames(i));
  }
  // If the look-ahead keeps frames in the device's memory, reading does not use the chains' inputs. So all chains may
  // read at once.
  if (backend.source_frames(0) != nullptr) most_reads_ = info_.chains;
}

void DeviceRun::feed() {
  try {
    const char* const waited = parts_.encode.settings.coding.scene_cuts ? "scene cuts and wait" : "wait";
    while (find_work()) {
      trace_.did(waited);
      read_frames();
      trace_.did(parts_.supply.read_name());
      submit();
      trace_.did("submit");
    }
  } catch (...) {
    fail(std::current_exception());
  }
  {
    const std::lock_guard lock(mutex_);
    fed_all_ = true;
  }
  submitted_.notify_one();
}

bool DeviceRun::find_work() {
  reads_.clear();
  for (;;) {
    const std::uint64_t version = parts_.changes.version();
    bool may_go_on = false;
    {
      const std::lock_guard lock(mutex_);
      for (Chain& chain : chains_) chain.has_room = static_cast<int>(chain.in_flight.size()) < info_.depth;
    }
    for (int i = 0; i < info_.chains && !feeds_no_more(); ++i) {
      const int number = (first_chain_ + i) % info_.chains;
      Chain& chain = chains_[static_cast<std::size_t>(number)];
      if (static_cast<int>(reads_.size()) == most_reads_) {
        first_chain_ = number;
        break;
      }
      if (!chain.has_room) {
        may_go_on = true;
        continue;
      }
      const GopQueue::Next next = parts_.gops.find_next(chain.position);
      if (next == GopQueue::Next::none) continue;
      may_go_on = true;
      if (next == GopQueue::Next::wait || !chain.position.planner->can_plan(chain.position.next)) continue;
      Read& read = reads_.emplace_back();
      read.frame.chain = number;
      read.index = chain.position.next++;
    }
    if (feeds_no_more()) return false;
    if (!reads_.empty()) return true;
    if (!may_go_on) return false;
    if (parts_.supply.search_scenes()) {
      parts_.changes.notify();
    } else {
      parts_.changes.wait_past(version);
    }
  }
}

void DeviceRun::read_frames() {
  std::size_t work = 0;  // number of frames that take time to read
  for (Read& read : reads_) {
    const std::span<const std::uint8_t> samples = parts_.supply.in_place(read.index);
    if (!chains_[0].lookahead && !samples.empty() && backend_.accepts(samples)) {
      read.frame.in_place = samples;
      read.frame.held = parts_.supply.hold(read.index);
    }
    if (read.frame.in_place.empty()) ++work;
  }
  // Reading is shared with other threads only if it is expected to take longer than this. Sharing itself takes some
  // microseconds, as long as copying a small frame takes.
  constexpr double kWorthSharingMs = 0.05;
  const bool is_much = chains_[0].lookahead || static_cast<double>(work) * read_ms_ > kWorthSharingMs;
  if (work > 1 && parts_.reads_side_by_side && is_much) {
    parallel_for(reads_.size(), [this](std::size_t i) { read_frame(reads_[i]); });
  } else {
    for (Read& read : reads_) read_frame(read);
  }
  for (const Read& read : reads_) {
    const StageTimes& times = read.frame.times;
    if (read.frame.in_place.empty()) read_ms_ = times.read + times.lookahead + times.filter;
  }
}

void DeviceRun::read_frame(Read& read) {
  const TraceScope trace(parts_.encode.settings.measurement.trace, parts_.supply.read_name(), TraceTrack::input, read.frame.chain,
                         read.index);
  const auto start = Clock::now();
  StageTimes& times = read.frame.times;
  try {
    read.done = prepare(read);
  } catch (...) {
    read.fault = std::current_exception();
  }
  const double all_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  const bool looks = chains_[static_cast<std::size_t>(read.frame.chain)].lookahead.has_value();
  (looks ? times.lookahead : times.read) += std::max(0.0, all_ms - times.read - times.filter);
}

bool DeviceRun::read_source(Read& read, std::int64_t index, std::span<std::uint8_t> to) {
  const auto start = Clock::now();
  const bool done = parts_.supply.read(index, to);
  read.frame.times.read += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return done;
}

bool DeviceRun::prepare(Read& read) {
  Chain& chain = chains_[static_cast<std::size_t>(read.frame.chain)];
  const ChainPosition& position = chain.position;
  FramePosition planned{.index = read.index, .key = read.index == *position.key};
  if (chain.lookahead && planned.key) {
    chain.lookahead->set_lambda(position.planner->lookahead().lambda);
  }
  // If the run is stopped, the look-ahead reads no further, because reading a whole GOP takes seconds. The frame is
  // then planned without its whole look-ahead, and submit() drops it.
  const auto read_ahead = [this, &read](std::int64_t index, std::span<std::uint8_t> frame) {
    return !feeds_no_more() && read_source(read, index, frame);
  };
  const auto input = [&] {
    read.has_input = true;
    return backend_.input(read.frame.chain);
  };
  if (chain.lookahead) {
    std::optional<PreparedFrame> looked = chain.lookahead->look(*position.key, position.last, read_ahead, planned, input);
    if (!looked) return false;
    read.frame.times.filter = looked->filter_ms;
    read.frame.in_place = looked->in_place;
    read.frame.original = std::move(looked->original);
    read.frame.original_in_place = looked->original_in_place;
  } else if (read.frame.in_place.empty() && !read_source(read, read.index, input())) {
    return false;
  }
  read.frame.plan = position.planner->plan(planned);
  return true;
}

void DeviceRun::submit() {
  batch_.clear();
  // feeds_no_more() is called only once, after all reading. If a stop came while frames were read, some frames were
  // planned without their whole look-ahead. Then none of the frames is submitted.
  const bool stopped = feeds_no_more();
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    for (Read& read : reads_) {
      if (read.fault) std::rethrow_exception(read.fault);
      if (!read.done || stopped) {
        if (read.has_input) backend_.discard_input(read.frame.chain);
        continue;
      }
      Chain& chain = chains_[static_cast<std::size_t>(read.frame.chain)];
      chain.in_flight.push_back(chain.position.planner);
      read.frame.ready = now;
      batch_.push_back(std::move(read.frame));
    }
  }
  if (batch_.empty()) return;
  backend_.submit(batch_);
  {
    const std::lock_guard lock(mutex_);
    in_flight_ += static_cast<int>(batch_.size());
  }
  submitted_.notify_one();
}

void DeviceRun::collect() {
  try {
    std::vector<CodedFrame> coded;  // hand_over() empties it
    while (wait_for_frames_in_flight() && parts_.order.wait_for_room()) {
      backend_.collect(coded);
      hand_over(coded);
    }
  } catch (...) {
    fail(std::current_exception());
  }
  parts_.order.remove_producer();
}

bool DeviceRun::wait_for_frames_in_flight() {
  std::unique_lock lock(mutex_);
  submitted_.wait(lock, [this] { return in_flight_ > 0 || fed_all_ || stop_ == StopLevel::drop; });
  return in_flight_ > 0 && stop_ != StopLevel::drop;
}

void DeviceRun::hand_over(std::vector<CodedFrame>& coded) {
  {
    const std::lock_guard lock(mutex_);
    for (CodedFrame& frame : coded) {
      auto& in_flight = chains_[static_cast<std::size_t>(frame.chain)].in_flight;
      in_flight.front()->finished(frame.frame);
      in_flight.pop_front();
      frame.device = index_;
    }
    in_flight_ -= static_cast<int>(coded.size());
  }
  parts_.order.put(coded);
  parts_.changes.notify();
}

void DeviceRun::stop(StopLevel level) noexcept {
  bool drops = false;
  {
    const std::lock_guard lock(mutex_);  // under the mutex, so that no thread can be between its check and its wait
    stop_ = std::max(stop_.load(), level);
    drops = stop_ == StopLevel::drop && (in_flight_ > 0 || !fed_all_);
  }
  if (drops) backend_.drop();
  submitted_.notify_one();
  parts_.changes.notify();
}

void DeviceRun::fail(std::exception_ptr fault) {
  {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(fault);
  }
  parts_.end_run();
}

std::exception_ptr DeviceRun::fault() {
  const std::lock_guard lock(mutex_);
  return fault_;
}

}  // namespace c63
