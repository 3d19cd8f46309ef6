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

/// Looks at the frames of a GOP before they are coded. It filters them, chooses their references, and weighs blocks by how long
/// their errors will be seen. It holds the frames of one GOP at a time.
class Lookahead {
 public:
  /// `frames` are the device's, or null if the frames lie in the host's memory.
  Lookahead(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions, SourceFrames* frames);

  /// Sets λ of the next GOP.
  void set_lambda(Cost lambda) { decisions_.lambda = lambda; }

  /// Fills `frame` with a frame of the source. Returns false if there is none.
  using Read = std::function<bool(std::int64_t index, std::span<std::uint8_t> frame)>;
  /// Returns the memory for a frame's samples.
  using Input = std::function<std::span<std::uint8_t>()>;

  /// Looks at the frames from `frame` up to frame `last`, or to the end of the GOP that begins at `key`. Frames of a GOP come in
  /// order. Adds the findings to `frame`. Calls `input` if the frame does not lie in place. Returns nullopt if there is no such
  /// frame.
  [[nodiscard]] std::optional<LookedAt> look(std::int64_t key, std::int64_t last, const Read& read, FramePosition& frame,
                                             const Input& input);

 private:
  /// A frame that has been read.
  struct Seen {
    int back = 1;  ///< distance to its reference, in frames; 0: a key frame
    bool hardly_new = false;
  };

  /// Reads the next frame. Returns false if there is none.
  bool read_next(const Read& read);
  /// Returns the distance from the newest frame to its reference, in frames.
  [[nodiscard]] int choose_reference(const std::array<MotionTotals, 2>& motion);

  LookaheadDecisions decisions_;
  std::unique_ptr<SourceFrames> own_;
  SourceFrames& frames_;
  std::int64_t key_ = -1;
  std::int64_t first_ = 0;  ///< index of the first frame of seen_
  bool ended_ = false;      ///< no frame follows those of seen_
  std::deque<Seen> seen_;
};

}  // namespace c63
