#pragma once

#include <cstdint>
#include <deque>

namespace c63 {

/// Whether every second frame of a GOP is to stay (reference_choice.h has the word), told by what became of frames before:
/// nothing is looked at ahead. A trial is a frame that stays, behind one that is replaced. Where it takes few bits for its
/// longer way, frames alternate from there on, as long as that holds; else the next trial comes later. A GOP's frames are
/// given to next() in order, and to observe() once they are finished.
class ReferenceAlternation {
 public:
  /// How many frames later what became of one is used: devices work on three of a chain at the same time, so that none waits.
  static constexpr int kLag = 3;
  struct Choice {
    bool stays = false;
    bool is_replaced = false;  ///< the next frame stays
  };

  /// `mcus` are a frame's.
  explicit ReferenceAlternation(std::int64_t mcus) : mcus_(mcus) {}

  /// Of the next frame, the key frame first.
  [[nodiscard]] Choice next();
  /// The next frame that was planned and not observed took so many bits, without its headers.
  void observe(bool repeat, std::int64_t bits);

 private:
  /// Frames until the next trial, at first and at most: it doubles with each that fails.
  static constexpr int kFirstWait = 16;
  static constexpr int kLongestWait = 64;

  /// Whether there is anything to be saved of so many bits above the least.
  [[nodiscard]] bool is_much(std::int64_t bits) const;
  /// Whether staying pays where a frame that was replaced took `before`, and the one that stayed took `bits`, above the least.
  [[nodiscard]] bool pays(std::int64_t before, std::int64_t bits) const;

  std::int64_t mcus_;
  int planned_ = 0;               ///< frames of the GOP
  std::deque<bool> staying_;      ///< of the frames that are planned and not observed
  bool next_stays_ = false;
  bool alternates_ = false;
  bool is_tried_ = false;         ///< the outcome of a trial is awaited
  int next_trial_ = kLag + 1;     ///< the first frame that may be replaced: when it is known what the first inter frame took
  int wait_ = kFirstWait;
  std::int64_t bits_before_ = 0;  ///< of the frame that was observed last, above the least
};

}  // namespace c63
