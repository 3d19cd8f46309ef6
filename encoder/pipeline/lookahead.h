#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "backend/source_frames.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "decide/lookahead_decisions.h"
#include "decide/planner.h"

namespace c63 {

/// What is found by looking at the frames of a GOP before they are coded: filtered frames, references, and weights by what
/// becomes of errors. It has the frames of one GOP at a time, and knows of no other.
class Lookahead {
 public:
  /// `frames` are the device's; null: the frames lie in the host's memory.
  Lookahead(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions, SourceFrames* frames);

  /// What a bit is worth in the GOP that is looked at next.
  void set_lambda(Cost lambda) { decisions_.lambda = lambda; }

  /// Fills its argument with a frame of the source; false where there is none.
  using Read = std::function<bool(std::int64_t index, std::span<std::uint8_t> frame)>;
  /// Says where a frame's samples are to be put.
  using Input = std::function<std::span<std::uint8_t>()>;

  /// Looks from a frame of the GOP that begins at `key` to frame `last` of it, if there are so many. Frames of a GOP come in
  /// order. Adds to `frame` what is found; `input` is asked for where the frame does not lie in place. Nothing where there is
  /// no such frame.
  [[nodiscard]] std::optional<LookedAt> look(std::int64_t key, std::int64_t last, const Read& read, FramePosition& frame,
                                             const Input& input);

 private:
  /// A frame that has been read.
  struct Seen {
    int back = 1;  ///< how many frames before it lies its reference; 0: a key frame
    bool hardly_new = false;
  };

  /// Reads the next frame; false where there is none.
  bool read_next(const Read& read);
  /// How many frames before the frame behind those seen, which was added last, its reference is to be.
  [[nodiscard]] int choose_reference(const std::array<MotionTotals, 2>& motion);

  LookaheadDecisions decisions_;
  std::unique_ptr<SourceFrames> own_;
  SourceFrames& frames_;
  std::int64_t key_ = -1;
  std::int64_t first_ = 0;  ///< the frame that is first in seen_
  bool ended_ = false;      ///< there is no frame behind those seen
  std::deque<Seen> seen_;
};

}  // namespace c63
