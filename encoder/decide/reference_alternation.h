#pragma once

#include <cstdint>
#include <deque>

namespace c63 {

/// Decides whether every second frame of a GOP stays (reference_choice.h), from the results of earlier frames, without looking
/// ahead. A trial is a frame that stays after one that is replaced. If it takes few bits for its longer distance, frames
/// alternate from then on while that holds. Otherwise the next trial comes later. Call next() for a GOP's frames in order, and
/// observe() when they are finished.
class ReferenceAlternation {
 public:
  /// The delay, in frames, before a result is used. Devices work on three frames of a chain at the same time, so none waits.
  static constexpr int kLag = 3;
  struct Choice {
    bool stays = false;
    bool is_replaced = false;  ///< the next frame stays
  };

  /// `mcus` is the number of MCUs of a frame.
  explicit ReferenceAlternation(std::int64_t mcus) : mcus_(mcus) {}

  /// The choice for the next frame, starting with the key frame.
  [[nodiscard]] Choice next();
  /// Receives the bits of the oldest planned frame that was not observed, without its headers.
  void observe(bool repeat, std::int64_t bits);

 private:
  /// The first and the longest wait for the next trial, in frames. The wait doubles after each failed trial.
  static constexpr int kFirstWait = 16;
  static constexpr int kLongestWait = 64;

  /// Returns true if `bits` above the least are enough to save some.
  [[nodiscard]] bool is_much(std::int64_t bits) const;
  /// Returns true if staying pays: the replaced frame took `before` and the one that stayed took `bits`, both above the least.
  [[nodiscard]] bool pays(std::int64_t before, std::int64_t bits) const;

  std::int64_t mcus_;
  int planned_ = 0;               ///< frames of the GOP
  std::deque<bool> staying_;      ///< of the frames that are planned but not observed
  bool next_stays_ = false;
  bool alternates_ = false;
  bool is_tried_ = false;         ///< a trial is running
  int next_trial_ = kLag + 1;     ///< the first frame that may be replaced: the first inter frame is then observed
  int wait_ = kFirstWait;
  std::int64_t bits_before_ = 0;  ///< of the frame that was observed last, above the least
};

}  // namespace c63
