#include "encode/gop_queue.h"

#include <algorithm>

namespace c63 {

GopQueue::Next GopQueue::find_next(ChainPosition& position) {
  const std::lock_guard lock(mutex_);
  if (position.key && position.next < *position.key + key_interval_) {
    const FrameState state = supply_.state(position.next);
    if (state == FrameState::pending) return Next::wait;
    if (state == FrameState::ready && (position.next == *position.key || !supply_.starts_scene(position.next))) {
      return look_ahead(position) ? Next::frame : Next::wait;
    }
  }
  position = {};
  const std::optional<std::int64_t> key = next_key();
  if (!key) return Next::wait;
  const FrameState state = supply_.state(*key);
  if (state == FrameState::pending) return Next::wait;
  if (state == FrameState::none) return Next::none;
  if (handed_out_.size() >= window_) return Next::wait;
  handed_out_.push_back(*key);
  last_key_ = key;
  searched_ = *key + 1;
  return begin(position, *key);
}

GopQueue::Next GopQueue::begin(ChainPosition& position, std::int64_t key) {
  position.planner = std::make_shared<GopPlanner>(planners_(), key);
  position.key = position.next = position.last = key;
  return look_ahead(position) ? Next::frame : Next::wait;
}

bool GopQueue::look_ahead(ChainPosition& position) {
  const std::int64_t end = std::min(position.next + lookahead_, *position.key + key_interval_ - 1);
  while (!position.whole && position.last < end) {
    const FrameState state = supply_.state(position.last + 1);
    if (state == FrameState::pending) return false;
    position.whole = state == FrameState::none || supply_.starts_scene(position.last + 1);
    if (!position.whole) ++position.last;
  }
  return true;
}

std::optional<std::int64_t> GopQueue::next_key() {
  if (!last_key_) return first_;
  const std::int64_t latest = *last_key_ + key_interval_;
  if (!scene_cuts_) return latest;
  for (; searched_ < latest; ++searched_) {
    const FrameState state = supply_.state(searched_);
    if (state == FrameState::pending) return std::nullopt;
    if (state == FrameState::none || supply_.starts_scene(searched_)) return searched_;
  }
  return latest;
}

void GopQueue::delivered_before(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  while (handed_out_.size() > 1 && handed_out_[1] <= index) handed_out_.pop_front();
}

}  // namespace c63
