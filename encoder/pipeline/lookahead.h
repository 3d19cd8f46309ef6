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
#include "decide/propagated_weights.h"
#include "decide/source_motion.h"
#include "decide/temporal_filter.h"

namespace c63 {

/// What is found by looking at the frames of a GOP before they are coded: filtered frames, and weights by what becomes of
/// errors. It has the frames of one GOP at a time, and knows of no other.
class Lookahead {
 public:
  Lookahead(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions);

  /// Fills its argument with a frame of the source; false where there is none.
  using Read = std::function<bool(std::int64_t index, std::span<std::uint8_t> frame)>;

  struct Frame {
    std::shared_ptr<const std::vector<std::uint8_t>> original;  ///< null: it was not filtered
    std::shared_ptr<const FrameWeights> weights;                ///< null: none
  };

  /// Looks from frame `index` of the GOP, which begins at `key`, to frame `last` of it, if there are so many. Frames of a GOP
  /// come in order. Fills `filtered` with what is to be coded. False where there is no such frame.
  [[nodiscard]] bool look(std::int64_t key, std::int64_t index, std::int64_t last, const Read& read,
                          std::span<std::uint8_t> filtered, Frame& frame);

  /// Pictures that it has in memory at most.
  [[nodiscard]] static std::uint64_t pictures(const LookaheadDecisions& decisions);

 private:
  /// A frame that has been read.
  struct Seen {
    std::shared_ptr<std::vector<std::uint8_t>> original;
    cpu::PaddedPicture picture;
    SourceMotion backward;  ///< against the frame before it
    ErrorFlow flow;         ///< from there
  };

  /// Reads the next frame; false where there is none.
  bool read_next(const Read& read);
  [[nodiscard]] SourceMotion find_motion(const Seen& from, const Seen& to, std::span<const MotionVector> hints) const;
  void filter(std::size_t at, std::span<std::uint8_t> filtered);
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
