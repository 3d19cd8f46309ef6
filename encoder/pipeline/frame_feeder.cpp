#include "pipeline/frame_feeder.h"

#include <algorithm>
#include <utility>

namespace c63 {

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
      ended_ = !source_.read(next_, frame);
      if (!ended_) ++next_;
      return !ended_;
    }
    std::vector<std::uint8_t> kept;
    if (!spare_.empty()) {
      kept = std::move(spare_.back());
      spare_.pop_back();
    }
    kept.resize(frame_bytes_);
    ended_ = !source_.read(next_, kept);
    if (ended_) return false;
    if (next_ == index) std::ranges::copy(kept, frame.begin());
    kept_.emplace(next_++, std::move(kept));
    if (next_ > index) return true;
  }
  return false;
}

}  // namespace c63
