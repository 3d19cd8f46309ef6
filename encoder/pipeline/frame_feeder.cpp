#include "pipeline/frame_feeder.h"

#include <algorithm>
#include <utility>

namespace c63 {

bool FrameFeeder::read_next(std::span<std::uint8_t> frame) {
  try {
    ended_ = !source_.read(next_, frame);
  } catch (...) {
    fault_ = std::current_exception();
    ended_ = true;
  }
  if (!ended_) ++next_;
  return !ended_;
}

bool FrameFeeder::keep_up_to(std::int64_t index) {
  while (!ended_ && next_ <= index) {
    std::vector<std::uint8_t> kept;
    if (!spare_.empty()) {
      kept = std::move(spare_.back());
      spare_.pop_back();
    }
    kept.resize(frame_bytes_);
    const std::int64_t at = next_;
    if (read_next(kept)) kept_.emplace(at, std::move(kept));
  }
  return index < next_;
}

std::span<const std::uint8_t> FrameFeeder::look_at(std::int64_t index, std::vector<std::uint8_t>& buffer) {
  if (!seekable_) {
    const std::lock_guard lock(mutex_);
    if (!keep_up_to(index)) return {};
    return kept_.at(index);
  }
  buffer.resize(frame_bytes_);
  try {
    if (read(index, buffer)) return buffer;
  } catch (...) {
    // The source says it again when the frame is taken.
  }
  return {};
}

bool FrameFeeder::read(std::int64_t index, std::span<std::uint8_t> frame) {
  if (concurrent()) return source_.read(index, frame);

  const std::lock_guard lock(mutex_);
  if (seekable_) return source_.read(index, frame);
  if (!rewindable_ && index >= next_) {
    // Nobody will want it again: straight into the lane.
    if (keep_up_to(index - 1) && !ended_ && read_next(frame)) return true;
  } else if (keep_up_to(index)) {
    std::vector<std::uint8_t>& kept = kept_.at(index);
    std::ranges::copy(kept, frame.begin());
    if (!rewindable_) {
      spare_.push_back(std::move(kept));
      kept_.erase(index);
    }
    return true;
  }
  if (fault_ && index == next_) std::rethrow_exception(fault_);
  return false;
}

void FrameFeeder::forget_before(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  kept_.erase(kept_.begin(), kept_.lower_bound(index));
}

}  // namespace c63
