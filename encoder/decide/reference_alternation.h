#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace c63 {

/// Decides whether every second frame of a GOP stays (reference_choice.h), from the results of earlier frames, without looking
/// ahead. A trial is one frame that stays. If it takes no more bits than the frames of the same parity around it, frames
/// alternate from then on, while that holds. Otherwise the next trial comes later. Call next() for a GOP's frames in order, and
/// observe() when they are finished.
class ReferenceAlternation {
 public:
  /// The delay, in frames, before a result is used. Devices work on three frames of a chain at the same time, so none waits.
  static constexpr int kLag = 3;
  struct Choice {
    bool stays = false;
    bool precedes_staying = false;  ///< the next frame stays, so this one must not become a repeat
    bool is_replaced = false;  ///< the next frame stays and frames alternate, so this one may have fewer bits
  };

  /// `mcus` is the number of MCUs of a frame. A GOP has at most `most_frames`.
  ReferenceAlternation(std::int64_t mcus, std::int64_t most_frames) : mcus_(mcus), most_frames_(most_frames) {}

  /// The choice for the next frame, starting with the key frame.
  [[nodiscard]] Choice next();
  /// Receives the bits of the oldest planned frame that was not observed, without its headers.
  void observe(bool repeat, std::int64_t bits);

 private:
  /// The first and the longest wait for the next trial, in frames. The wait doubles after each failed trial.
  static constexpr int kFirstWait = 16;
  static constexpr int kLongestWait = 64;
  static constexpr std::int64_t kWhole = 256;

  /// Returns true if the frames around the next one have bits that can be saved, and the GOP may have enough frames left to win
  /// back what a trial costs.
  [[nodiscard]] bool may_try() const;
  /// Returns true if `bits` above the least are enough to save some.
  [[nodiscard]] bool is_much(std::int64_t bits) const;
  void observe_repeat();
  void observe_plain(std::int64_t bits);
  void observe_staying(std::int64_t bits);
  /// Compares the trial with `plain`, the bits of frames of its parity.
  void judge_trial(std::int64_t plain);
  void end();

  std::int64_t mcus_;
  std::int64_t most_frames_;
  int planned_ = 0;                ///< frames of the GOP
  std::deque<Choice> unobserved_;  ///< of the frames that are planned but not observed
  bool next_stays_ = false;
  bool alternates_ = false;
  bool is_tried_ = false;         ///< a trial is running, or frames alternate
  int trials_ = 0;                ///< observed ones
  int next_trial_ = kLag + 1;     ///< the first frame that may start a trial: the first inter frame is then observed
  int wait_ = kFirstWait;
  int lively_ = 0;                ///< inter frames in a row, the last observed ones, with much above the least
  // Bits above the least:
  std::int64_t last_ = 0;         ///< of the frame that was observed last
  std::int64_t last_but_one_ = 0;
  std::optional<std::int64_t> trial_;  ///< of a trial that is not judged yet
  int plain_since_trial_ = 0;          ///< frames observed since then
  std::int64_t plain_ = 0;             ///< of frames of the trial's parity that advanced
  std::int64_t replaced_ = 0;          ///< of the last replaced frame
  std::int64_t replaced_before_ = 0;   ///< of the one before
  std::int64_t staying_ = 0;           ///< of the last frame that stayed, except in trials
  std::int64_t replaced_share_ = 0;    ///< size of a replaced frame as a share of plain_, in units of 1/kWhole
  int pairs_ = 0;                      ///< replaced frames observed since frames alternate
};

}  // namespace c63
