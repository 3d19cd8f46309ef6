#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "decide/planner.h"

namespace c63 {

/// A planner together with the results of its frames. It gives the planner each result at a time that depends only on
/// the planner's lag. One thread plans; another thread may report finished frames.
class GopPlanner {
 public:
  GopPlanner(std::unique_ptr<Planner> planner, std::int64_t key)
      : planner_(std::move(planner)), key_(key), observes_(planner_->lag() < Planner::kNeverObserves) {}

  /// Returns true if all frames that must be observed before frame `index` is planned are finished.
  [[nodiscard]] bool can_plan(std::int64_t index) {
    if (!observes_) return true;
    const std::lock_guard lock(mutex_);
    return observed_ + static_cast<std::int64_t>(finished_.size()) > last_to_observe(index) - key_;
  }

  [[nodiscard]] LookaheadDecisions lookahead() const { return planner_->lookahead(key_); }

  [[nodiscard]] FramePlan plan(const FramePosition& frame) {
    while (observes_ && key_ + observed_ <= last_to_observe(frame.index)) {
      FrameOutcome finished;
      {
        const std::lock_guard lock(mutex_);
        finished = finished_.front();
        finished_.pop_front();
        ++observed_;
      }
      planner_->observe(finished);
    }
    return planner_->plan(frame);
  }

  /// Takes the result of the next finished frame of the GOP.
  void finished(const EncodedFrame& frame) {
    if (!observes_) return;
    const std::lock_guard lock(mutex_);
    finished_.push_back({frame.index, frame.key, frame.repeat, frame.bytes.size(), frame.statistics});
  }

 private:
  [[nodiscard]] std::int64_t last_to_observe(std::int64_t index) const { return index - planner_->lag(); }

  std::unique_ptr<Planner> planner_;
  std::int64_t key_;
  bool observes_;
  std::mutex mutex_;  ///< guards the members below
  std::deque<FrameOutcome> finished_;
  std::int64_t observed_ = 0;  ///< frames of the GOP that the planner has observed
};

}  // namespace c63
