#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "backend/source_frames.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "decide/presets.h"
#include "decide/planner.h"

namespace c63 {

/// Examines the frames of a GOP before they are coded. It filters them, chooses their references, and weights MCUs by
/// how long their errors will be visible. It holds frames of one GOP at a time.
class Lookahead {
 public:
  /// `frames` keeps the frames in a device's memory; null: they are kept in host memory.
  Lookahead(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions, SourceFrames* frames);

  /// Sets λ for the next GOP.
  void set_lambda(Cost lambda) { decisions_.lambda = lambda; }

  /// Fills `frame` with frame `index` of the source. Returns false if there is none.
  using Read = std::function<bool(std::int64_t index, std::span<std::uint8_t> frame)>;
  /// Returns the memory for a frame's samples.
  using Input = std::function<std::span<std::uint8_t>()>;

  /// Prepares `frame` for coding and stores the chosen reference and weights in it. Before that, reads frames up to
  /// frame `last`, or up to the end of the source if that comes first. `key` is the GOP's first frame. Call it for the
  /// GOP's frames in order. If samples do not lie in place, they are written to the memory that `input` returns.
  /// Returns nullopt if there is no such frame.
  [[nodiscard]] std::optional<PreparedFrame> look(std::int64_t key, std::int64_t last, const Read& read, FramePosition& frame,
                                             const Input& input);

 private:
  /// What was found about a frame that has been read.
  struct Seen {
    int back = 1;  ///< distance to its reference, in frames; 0: a key frame
    bool hardly_new = false;
    bool mostly_new = false;
    std::int64_t new_content = 0;
  };

  /// Reads the next frame of the GOP and adds it to seen_. Returns false if there is none.
  bool read_next(const Read& read);
  /// Returns true if hardly any errors of the frame at a place of seen_ will remain in the next frame. The last frame
  /// of a GOP is judged by what it inherits itself.
  [[nodiscard]] bool errors_vanish(std::size_t at) const {
    return seen_[std::min(at + 1, seen_.size() - 1)].mostly_new;
  }
  /// Chooses the reference of the newest frame. Returns the distance to it, in frames.
  [[nodiscard]] int choose_reference(const std::array<MotionTotals, 2>& motion);

  LookaheadDecisions decisions_;
  std::unique_ptr<SourceFrames> own_;
  SourceFrames& frames_;
  std::int64_t key_ = -1;
  std::int64_t first_ = 0;  ///< index of the first frame of seen_
  bool ended_ = false;      ///< the source has no frame after seen_
  std::deque<Seen> seen_;
};

}  // namespace c63
