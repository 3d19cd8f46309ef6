#include "decide/reference_alternation.h"

#include <algorithm>

#include "decide/repeat_frame.h"

namespace c63 {

ReferenceAlternation::Choice ReferenceAlternation::next() {
  const int number = planned_++;
  const bool starts_trial = !is_tried_ && number >= next_trial_ && is_much(bits_before_);
  const Choice choice{.stays = next_stays_, .is_replaced = number > 0 && !next_stays_ && (alternates_ || starts_trial)};
  if (choice.is_replaced) is_tried_ = true;
  next_stays_ = choice.is_replaced;
  staying_.push_back(choice.stays);
  return choice;
}

void ReferenceAlternation::observe(bool repeat, std::int64_t bits) {
  const std::int64_t above_least = std::max<std::int64_t>(0, bits - kLeastMcuBits * mcus_);
  if (staying_.front()) {
    alternates_ = pays(bits_before_, above_least);
    is_tried_ = false;
    if (!alternates_) next_trial_ = planned_ + wait_;
    wait_ = alternates_ ? kFirstWait : std::min(kLongestWait, 2 * wait_);
  } else if (repeat) {
    // Pictures come twice. Frames that are replaced or stay could not be repeats.
    alternates_ = false;
    next_trial_ = std::max(next_trial_, planned_ + kFirstWait);
  }
  bits_before_ = above_least;
  staying_.pop_front();
}

bool ReferenceAlternation::is_much(std::int64_t bits) const {
  constexpr int kFewMcuBits = 6;
  return bits > kFewMcuBits * mcus_;
}

bool ReferenceAlternation::pays(std::int64_t before, std::int64_t bits) const {
  // The replaced frame took fewer bits because of its λ, so the frame that stays may take 1.4 times as many. If frames alternate
  // already, the replaced one also has a better reference, so it may take twice as many.
  return is_much(before) && (alternates_ ? bits < 2 * before : 5 * bits < 7 * before);
}

}  // namespace c63
