#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <span>

namespace c63 {

/// Finds scene cuts by luma histograms. A new scene starts at a frame whose histogram differs from the old scene's (is_scene_cut()),
/// unless the next frame belongs to the old scene again. So a flash of one frame is not a cut. Moving cameras and fades change a
/// histogram little from frame to frame, so they are not cuts either.
class SceneCuts {
 public:
  using Histogram = std::array<std::uint64_t, 256>;

  SceneCuts() = default;
  /// Takes scene starts that are known; nothing is left to decide.
  explicit SceneCuts(std::span<const std::int64_t> starts);

  [[nodiscard]] static Histogram histogram_of(std::span<const std::uint8_t> luma);

  /// Takes the histogram of the next frame.
  void add(const Histogram& histogram);
  /// Says that no frame follows.
  void end();

  /// Returns the first frame that is undecided. A frame that differs from the old scene is decided when the next frame is known.
  [[nodiscard]] std::int64_t decided() const { return decided_; }
  /// Returns true if a decided frame starts a scene.
  [[nodiscard]] bool starts_scene(std::int64_t index) const { return cuts_.contains(index); }

 private:
  void decide();

  std::set<std::int64_t> cuts_;
  std::int64_t decided_ = 0;
  Histogram scene_{};              ///< of the last frame that was not a flash
  std::deque<Histogram> pending_;  ///< of frame decided_ and those after it
  bool ended_ = false;
};

}  // namespace c63
