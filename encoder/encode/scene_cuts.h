#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <span>

namespace c63 {

/// Finds scene cuts by luma histograms. A new scene starts at a frame whose histogram differs from the old scene's
/// (is_scene_cut()). If the next frame is like the old scene again, it was a flash of one frame and not a cut. Moving
/// cameras and fades change the histogram only little from frame to frame, so they are not cuts either.
class SceneCuts {
 public:
  using Histogram = std::array<std::uint64_t, 256>;

  SceneCuts() = default;
  /// Uses known scene starts instead of histograms.
  explicit SceneCuts(std::span<const std::int64_t> starts);

  [[nodiscard]] static Histogram histogram_of(std::span<const std::uint8_t> luma);

  /// Adds the histogram of the next frame.
  void add(const Histogram& histogram);
  /// Says that no more frames will be added.
  void end();

  /// Returns the first frame for which it is not known whether it starts a scene. If a frame differs, the next frame
  /// must be added first.
  [[nodiscard]] std::int64_t decided() const { return decided_; }
  /// Returns true if frame `index` starts a scene. The frame must come before decided().
  [[nodiscard]] bool starts_scene(std::int64_t index) const { return cuts_.contains(index); }

 private:
  void decide();

  std::set<std::int64_t> cuts_;
  std::int64_t decided_ = 0;
  Histogram scene_{};              ///< histogram of the last frame that was not a flash
  std::deque<Histogram> pending_;  ///< histograms of frame decided_ and the frames after it
  bool ended_ = false;
};

}  // namespace c63
