#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace c63 {

/// Decides whether every second frame of a GOP *stays*: uses the same reference as the previous frame
/// (reference_choice.h). It decides from the bits of earlier frames, without looking ahead. A trial is one frame that
/// stays. The first trial of a GOP is compared with the frame two before it, later trials also with the frame two after
/// them. If the trial takes fewer bits, every second frame stays, until that no longer saves bits. Otherwise the wait
/// until the next trial doubles. Call next() for a GOP's frames in order, and observe() when they are finished.
class ReferenceAlternation {
 public:
  /// The delay, in frames, before a result is used. Devices work on three frames of a chain at the same time, so no
  /// frame has to wait for a result.
  static constexpr int kLag = 3;
  struct Choice {
    bool stays = false;
    bool precedes_staying = false;  ///< the next frame stays, so this frame must not become a repeat
    /// Frames alternate, and the next frame stays. So no frame is predicted from this one, and fewer bits are enough
    /// for it.
    bool is_replaced = false;
  };

  /// `mcus` is the number of MCUs of a frame. A GOP has at most `most_frames`.
  ReferenceAlternation(std::int64_t mcus, std::int64_t most_frames) : mcus_(mcus), most_frames_(most_frames) {}

  /// Returns the choice for the next frame. The first call is for the key frame.
  [[nodiscard]] Choice next();
  /// Receives the result of a frame, in the order of next(): whether it became a repeat, and its bits without headers.
  void observe(bool repeat, std::int64_t bits);

 private:
  /// The shortest and the longest time to the next trial, in frames. The time doubles after each failed trial.
  static constexpr int kFirstWait = 16;
  static constexpr int kLongestWait = 64;
  static constexpr std::int64_t kWhole = 256;

  /// Returns true if a trial may pay. The last frames must have bits that can be saved. The rest of the GOP must be
  /// long enough to save what the trial costs.
  [[nodiscard]] bool may_try() const;
  /// Returns true if some of `bits` can be saved. `bits` is what a frame takes above the fewest possible bits.
  [[nodiscard]] bool is_much(std::int64_t bits) const;
  void observe_repeat();
  void observe_plain(std::int64_t bits);
  void observe_staying(std::int64_t bits);
  /// Decides whether the trial paid, and so whether frames alternate. `plain` is the number of bits that the trial
  /// frame would take if it advanced.
  void judge_trial(std::int64_t plain);
  void end();

  std::int64_t mcus_;
  std::int64_t most_frames_;
  int planned_ = 0;                ///< frames of the GOP for which next() was called
  std::deque<Choice> unobserved_;  ///< choices of frames that are planned but not observed
  bool next_stays_ = false;
  bool alternates_ = false;
  bool is_tried_ = false;         ///< a trial is running, or frames alternate
  int trials_ = 0;                ///< observed trials
  /// The index in the GOP of the earliest frame that may start a trial. When it is planned, the first inter frame has
  /// been observed.
  int next_trial_ = kLag + 1;
  int wait_ = kFirstWait;
  /// The number of inter frames with many bits that were observed in a row, up to the last observed frame.
  int lively_ = 0;
  // Where the members below count bits, they count those above the fewest that a frame can have.
  std::int64_t last_ = 0;         ///< bits of the frame observed last
  std::int64_t last_but_one_ = 0;
  std::optional<std::int64_t> trial_;  ///< bits of a trial that is not judged yet
  int plain_since_trial_ = 0;          ///< coded frames without `stays` that were observed since that trial
  /// What the frame of the last trial would probably take without `stays`: the bits of the frame two before it, or the
  /// mean of these and the bits of the frame two after it.
  std::int64_t plain_ = 0;
  std::int64_t replaced_ = 0;          ///< bits of the last frame with is_replaced
  std::int64_t replaced_before_ = 0;   ///< bits of the last but one frame with is_replaced
  std::int64_t staying_ = 0;           ///< bits of the last frame that stayed, except in trials
  std::int64_t replaced_share_ = 0;    ///< replaced_ as a share of plain_, in units of 1/kWhole
  int pairs_ = 0;                      ///< frames with is_replaced that were observed since alternation began
};

}  // namespace c63
