#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <stop_token>
#include <vector>

#include "c63/picture.h"
#include "pipeline/frame_feeder.h"

namespace c63 {

/// Finds where new scenes start, from the histograms of luma: at a frame whose histogram is_scene_cut() tells from that
/// of the scene before, unless the frame after it is of the old scene again. So a flash of one frame is no cut. Moving
/// cameras and fades change a histogram little from frame to frame and are none either.
class SceneCuts {
 public:
  /// Looks at the frames of `feeder` before anyone takes them. `stop` ends the search: there are no cuts from then on.
  SceneCuts(FrameFeeder& feeder, const VideoFormat& format, std::stop_token stop);

  /// The first frame of [begin, end) that starts a scene; `end` where none does. Frames up to what is returned have been
  /// looked at then. What was found is kept, so that earlier frames may be asked for again.
  [[nodiscard]] std::int64_t first_in(std::int64_t begin, std::int64_t end);

 private:
  using Histogram = std::array<std::uint64_t, 256>;

  /// Decides for the next undecided frame.
  void decide();
  /// Makes `ahead_` hold at least `frames` histograms, or all that are left.
  void look_ahead(std::size_t frames);
  [[nodiscard]] bool measure(std::int64_t index, Histogram& histogram);

  FrameFeeder& feeder_;
  std::stop_token stop_;
  std::size_t luma_samples_;
  std::set<std::int64_t> cuts_;
  std::int64_t next_ = 0;        ///< frames before it are decided
  Histogram scene_{};            ///< of the last frame that was no flash
  std::deque<Histogram> ahead_;  ///< of frame next_ and those after it
  bool ended_ = false;           ///< there are no frames behind those in ahead_
};

}  // namespace c63
