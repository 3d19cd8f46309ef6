#include "encode/lookahead.h"

#include <chrono>

#include "encode/host_source_frames.h"

namespace c63 {

Lookahead::Lookahead(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions,
                     SourceFrames* frames)
    : decisions_(decisions),
      own_(frames == nullptr ? std::make_unique<HostSourceFrames>(geometry, kernels, decisions) : nullptr),
      frames_(frames == nullptr ? *own_ : *frames) {}

std::optional<PreparedFrame> Lookahead::look(std::int64_t key, std::int64_t last, const Read& read, FramePosition& frame,
                                        const Input& input) {
  if (key != key_) {
    key_ = first_ = key;
    ended_ = false;
    seen_.clear();
    frames_.begin_gop(decisions_.lambda);
  }
  while (first_ < frame.index - kFramesKeptBehind) {
    seen_.pop_front();
    frames_.pop_front();
    ++first_;
  }
  const auto seen_end = [&] { return first_ + static_cast<std::int64_t>(seen_.size()); };
  const auto at = static_cast<std::size_t>(frame.index - first_);
  if (seen_end() > frame.index + kFilterReach && !errors_vanish(at)) frames_.begin_look(at);
  while (!ended_ && seen_end() <= last) ended_ = !read_next(read);
  if (seen_end() <= frame.index) return std::nullopt;
  frame.stays = seen_[at].back > 1;
  frame.is_replaced = at + 1 < seen_.size() && seen_[at + 1].back > 1;
  frame.hardly_new = frame.key ? at + 1 < seen_.size() && seen_[at + 1].hardly_new : seen_[at].hardly_new;
  frame.new_content = seen_[at].new_content;
  frame.errors_vanish = errors_vanish(at);
  const auto start = std::chrono::steady_clock::now();
  PreparedFrame looked =
      frames_.look_at(at, frame.errors_vanish, frames_.has_in_place() ? std::span<std::uint8_t>() : input());
  if (decisions_.filter && !frame.errors_vanish) {
    looked.filter_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  frame.weights = looked.weights;
  return looked;
}

bool Lookahead::read_next(const Read& read) {
  if (!read(first_ + static_cast<std::int64_t>(seen_.size()), frames_.input())) return false;
  const std::array<MotionTotals, 2> motion = frames_.push();
  Seen next;
  const bool noise = is_noise(motion[0], motion[1], decisions_.lambda);
  next.back = noise ? 1 : choose_reference(motion);  // a repeat must be predicted from the previous frame
  next.hardly_new = noise || is_hardly_new(motion[0], decisions_.lambda);
  next.mostly_new = is_mostly_new(motion[0], decisions_.lambda);
  next.new_content = new_content(motion[0], decisions_.lambda);
  frames_.predict_from(next.back);
  seen_.push_back(next);
  return true;
}

int Lookahead::choose_reference(const std::array<MotionTotals, 2>& motion) {
  if (seen_.empty()) return 0;
  // The newest frame may keep the previous frame's reference if three conditions hold: the previous frame is an inter
  // frame, it will not become a repeat, and its reference is still kept.
  const Seen& before = seen_.back();
  const bool may_stay = decisions_.choose_reference && seen_.size() >= 2 && before.back > 0 && before.back < kMostFramesBack &&
                        !before.hardly_new;
  if (!may_stay) return 1;
  const int back = before.back + 1;
  const MotionTotals staying = back == 2 ? motion[1] : frames_.find_motion(back);
  return is_to_stay(motion[0], staying, decisions_.lambda) ? back : 1;
}

}  // namespace c63
