#include "encode/gop_queue.h"

#include <algorithm>
#include <iterator>

namespace c63 {

GopQueue::Turn GopQueue::find_next(ChainPosition& position) {
  const std::lock_guard lock(mutex_);
  if (position.device < held_) return Turn::wait;
  if (position.key && position.next < *position.key + options_.key_interval) {
    const FrameState state = supply_.state(position.next);
    if (state == FrameState::pending) return Turn::wait;
    if (state == FrameState::ready && (position.next == *position.key || !supply_.starts_scene(position.next))) {
      return look_ahead(position) ? Turn::frame : Turn::wait;
    }
  }
  position = {.device = position.device};
  if (position.device < first_device_) return Turn::none;
  const auto taken_back = std::ranges::find_if(handed_out_, [](const Gop& gop) { return !gop.device; });
  if (taken_back != handed_out_.end()) {
    // The source may have been stopped before this frame. Then the frame will never arrive, and the chain gets no more
    // frames.
    if (supply_.state(taken_back->key) != FrameState::ready) return Turn::none;
    *taken_back = {.key = taken_back->key, .device = position.device};
    return begin(position, taken_back->key);
  }
  const std::optional<std::int64_t> key = next_key();
  if (!key) return Turn::wait;
  const FrameState state = supply_.state(*key);
  if (state == FrameState::pending) return Turn::wait;
  if (state == FrameState::none) return Turn::none;
  if (handed_out_.size() >= options_.window) return Turn::wait;
  handed_out_.push_back({.key = *key, .device = position.device});
  last_key_ = key;
  searched_ = *key + 1;
  return begin(position, *key);
}

GopQueue::Turn GopQueue::begin(ChainPosition& position, std::int64_t key) {
  position.planner = std::make_shared<GopPlanner>(planners_(), key);
  position.key = position.next = position.last = key;
  return look_ahead(position) ? Turn::frame : Turn::wait;
}

bool GopQueue::look_ahead(ChainPosition& position) {
  const std::int64_t end = std::min(position.next + options_.lookahead, *position.key + options_.key_interval - 1);
  while (!position.whole && position.last < end) {
    const FrameState state = supply_.state(position.last + 1);
    if (state == FrameState::pending) return false;
    position.whole = state == FrameState::none || supply_.starts_scene(position.last + 1);
    if (!position.whole) ++position.last;
  }
  return true;
}

std::optional<std::int64_t> GopQueue::next_key() {
  if (!last_key_) return options_.first;
  const std::int64_t latest = *last_key_ + options_.key_interval;
  if (!options_.scene_cuts) return latest;
  for (; searched_ < latest; ++searched_) {
    const FrameState state = supply_.state(searched_);
    if (state == FrameState::pending) return std::nullopt;
    if (state == FrameState::none || supply_.starts_scene(searched_)) return searched_;
  }
  return latest;
}

void GopQueue::finished(int device, std::int64_t index) {
  const std::lock_guard lock(mutex_);
  const auto after = std::ranges::upper_bound(handed_out_, index, {}, &Gop::key);
  if (after == handed_out_.begin()) return;  // the GOP was already delivered
  Gop& gop = *std::prev(after);
  if (gop.device == device) ++gop.finished;
}

void GopQueue::delivered_before(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  while (handed_out_.size() > 1 && handed_out_[1].key <= index) handed_out_.pop_front();
}

void GopQueue::reserve_for(int device) {
  const std::lock_guard lock(mutex_);
  first_device_ = device;
}

void GopQueue::hold(int device) {
  const std::lock_guard lock(mutex_);
  held_ = device;
}

void GopQueue::take_back(int device) {
  const std::lock_guard lock(mutex_);
  for (auto gop = handed_out_.begin(); gop != handed_out_.end(); ++gop) {
    const auto next = std::next(gop);
    // The newest GOP counts as unfinished, because its last frame may not be known yet.
    const bool is_finished = next != handed_out_.end() && gop->finished == next->key - gop->key;
    if (gop->device == device && !is_finished) gop->device = std::nullopt;
  }
}

void GopQueue::widen(std::size_t gops) {
  const std::lock_guard lock(mutex_);
  options_.window += gops;
}

}  // namespace c63
