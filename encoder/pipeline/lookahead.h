#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"
#include "decide/frame_weights.h"
#include "decide/lookahead_decisions.h"
#include "decide/planner.h"
#include "decide/propagated_weights.h"
#include "decide/reference_choice.h"
#include "decide/source_motion.h"
#include "decide/temporal_filter.h"

namespace c63 {

/// What is found by looking at the frames of a GOP before they are coded: filtered frames, references, and weights by what
/// becomes of errors. It has the frames of one GOP at a time, and knows of no other.
class Lookahead {
 public:
  Lookahead(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions);

  /// Fills its argument with a frame of the source; false where there is none.
  using Read = std::function<bool(std::int64_t index, std::span<std::uint8_t> frame)>;

  /// Looks from a frame of the GOP that begins at `key` to frame `last` of it, if there are so many. Frames of a GOP come in
  /// order. Adds to `frame` what is found, fills `coded` with the samples that are to be coded, and `original` with those that
  /// errors are measured against, where they are others. False where there is no such frame.
  [[nodiscard]] bool look(std::int64_t key, std::int64_t last, const Read& read, FramePosition& frame,
                          std::span<std::uint8_t> coded, std::shared_ptr<const std::vector<std::uint8_t>>& original);

  /// Pictures that it has in memory at most.
  [[nodiscard]] static std::uint64_t pictures(const LookaheadDecisions& decisions);

 private:
  /// A frame that has been read.
  struct Seen {
    std::shared_ptr<std::vector<std::uint8_t>> original;
    cpu::PaddedPicture picture;
    SourceMotion backward;  ///< against the frame before it
    SourceMotion second_backward;  ///< against the one before that
    int back = 1;           ///< how many frames before it lies its reference; 0: a key frame
    ErrorFlow flow;         ///< from its reference
  };

  /// Reads the next frame; false where there is none.
  bool read_next(const Read& read);
  /// Decides what a frame behind those seen is predicted from.
  void choose_reference(Seen& next) const;
  [[nodiscard]] SourceMotion find_motion(const Seen& from, const Seen& to, std::span<const MotionVector> hints) const;
  void filter(std::size_t at, std::span<std::uint8_t> coded);
  [[nodiscard]] FrameWeights weights_of(std::size_t at) const;

  Geometry geometry_;
  LookaheadDecisions decisions_;
  const cpu::Kernels& kernels_;
  TemporalFilter filter_;
  std::int64_t key_ = -1;
  std::int64_t first_ = 0;  ///< the frame that is first in seen_
  bool ended_ = false;      ///< there is no frame behind those seen
  std::deque<Seen> seen_;
  cpu::PaddedPicture averaged_;
};

}  // namespace c63
