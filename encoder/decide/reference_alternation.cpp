#include "decide/reference_alternation.h"

#include <algorithm>
#include <utility>

#include "decide/repeat_frame.h"

namespace c63 {

ReferenceAlternation::Choice ReferenceAlternation::next() {
  Choice choice{.stays = next_stays_};
  if (!next_stays_) {
    choice.is_replaced = alternates_;
    choice.precedes_staying = alternates_ || may_try();
  }
  if (choice.precedes_staying) is_tried_ = true;
  next_stays_ = choice.precedes_staying;
  unobserved_.push_back(choice);
  ++planned_;
  return choice;
}

bool ReferenceAlternation::may_try() const {
  // A trial costs up to half of a frame's bits. Its two frames cannot be repeats, so it may also cost the fewest bits
  // of two coded frames. If frames then alternate, each frame that is left saves about a sixteenth of what it takes
  // above these fewest bits.
  constexpr int kLeastFramesLeft = 16;
  const std::int64_t left = most_frames_ - planned_;
  if (left * last_ < 8 * last_ + 16 * 2 * kLeastMcuBits * mcus_) return false;
  // The two frames of a trial cannot be repeats. If the video shows pictures twice or seldom changes, repeats would be
  // better. So the last few frames must all have been coded with many bits.
  constexpr int kLivelyFrames = 4;
  return !is_tried_ && planned_ >= next_trial_ && left >= kLeastFramesLeft &&
         lively_ >= std::min(kLivelyFrames, planned_ - kLag);
}

void ReferenceAlternation::observe(bool repeat, std::int64_t bits) {
  const Choice choice = unobserved_.front();
  unobserved_.pop_front();
  const bool is_key = planned_ - static_cast<int>(unobserved_.size()) == 1;
  const std::int64_t above_least = std::max<std::int64_t>(0, bits - kLeastMcuBits * mcus_);
  lively_ = !is_key && !repeat && is_much(above_least) ? lively_ + 1 : 0;
  if (choice.stays) {
    observe_staying(above_least);
  } else if (choice.is_replaced) {
    replaced_before_ = std::exchange(replaced_, above_least);
    // replaced_share_ is measured twice. The first replaced frame is predicted from a frame that advanced. The second
    // one, like all later ones, is predicted from a frame that stayed.
    if (++pairs_ <= 2) replaced_share_ = kWhole * replaced_ / plain_;
  } else if (repeat) {
    observe_repeat();
  } else {
    observe_plain(above_least);
  }
  last_but_one_ = std::exchange(last_, above_least);
}

void ReferenceAlternation::observe_repeat() {
  // The video shows pictures twice, so repeats are better than alternation. While frames alternate, no frame can become
  // a repeat: neither a frame that stays nor the frame before it.
  alternates_ = false;
  is_tried_ = next_stays_;
  trial_.reset();
  next_trial_ = std::max(next_trial_, planned_ + kFirstWait);
}

void ReferenceAlternation::observe_plain(std::int64_t bits) {
  pairs_ = 0;
  if (trial_ && ++plain_since_trial_ == 2) judge_trial((plain_ + bits) / 2);
}

void ReferenceAlternation::observe_staying(std::int64_t bits) {
  if (pairs_ == 0) {
    trial_ = bits;
    plain_ = last_but_one_;
    plain_since_trial_ = 0;
    // The first trial of a GOP is judged at once, by the frame two frames before it. A later trial is judged by that
    // frame and the frame two frames after it, because bits may rise or fall over time.
    if (++trials_ == 1) judge_trial(plain_);
    return;
  }
  if (!alternates_) return;  // the frame was planned before alternation ended
  // If this frame had advanced, it would probably have taken kWhole / replaced_share_ times the replaced frame's bits.
  // As a frame that stays, it may take a seventh more than that. From the second pair of a replaced and a staying frame
  // on, the sums over the last two pairs are compared.
  const std::int64_t staying = bits + (pairs_ > 1 ? staying_ : 0);
  const std::int64_t replaced = replaced_ + (pairs_ > 1 ? replaced_before_ : 0);
  staying_ = bits;
  alternates_ = is_much(replaced_) && 7 * staying * replaced_share_ < 8 * kWhole * replaced;
  if (!alternates_) end();
}

void ReferenceAlternation::judge_trial(std::int64_t plain) {
  // The first trial only has to take fewer bits than a plain frame. Every later one follows a trial that did not pay, or
  // an alternation that ended. So it must save more than a twelfth of the plain frame's bits.
  const bool pays = trials_ == 1 ? *trial_ < plain : 12 * *trial_ < 11 * plain;
  alternates_ = is_much(plain) && pays;
  trial_.reset();
  plain_ = plain;
  if (alternates_) {
    wait_ = kFirstWait;
  } else {
    end();
  }
}

void ReferenceAlternation::end() {
  is_tried_ = false;
  next_trial_ = planned_ + wait_;
  wait_ = std::min(kLongestWait, 2 * wait_);
}

bool ReferenceAlternation::is_much(std::int64_t bits) const {
  // Noise of a quiet video takes about this much. A trial would code two such frames that are better repeated.
  constexpr int kFewMcuBits = 16;
  return bits > kFewMcuBits * mcus_;
}

}  // namespace c63
