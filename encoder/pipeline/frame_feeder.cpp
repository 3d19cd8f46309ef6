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

bool FrameFeeder::read(std::int64_t index, std::span<std::uint8_t> frame) {
  if (seekable_) return source_.read(index, frame);

  if (const auto found = kept_.find(index); found != kept_.end()) {
    std::ranges::copy(found->second, frame.begin());
    if (!rewindable_) {
      spare_.push_back(std::move(found->second));
      kept_.erase(found);
    }
    return true;
  }
  while (!ended_ && next_ <= index) {
    if (next_ == index && !rewindable_) {
      if (read_next(frame)) return true;
      break;
    }
    std::vector<std::uint8_t> kept;
    if (!spare_.empty()) {
      kept = std::move(spare_.back());
      spare_.pop_back();
    }
    kept.resize(frame_bytes_);
    const std::int64_t at = next_;
    if (!read_next(kept)) break;
    if (at == index) std::ranges::copy(kept, frame.begin());
    kept_.emplace(at, std::move(kept));
    if (at == index) return true;
  }
  if (fault_ && index == next_) std::rethrow_exception(fault_);
  return false;
}

}  // namespace c63
