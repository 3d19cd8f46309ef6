#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <span>

namespace c63 {

/// Finds where new scenes start, from the histograms of luma: at a frame whose histogram is_scene_cut() tells from that
/// of the scene before, unless the frame after it is of the old scene again. So a flash of one frame is no cut. Moving
/// cameras and fades change a histogram little from frame to frame and are none either.
class SceneCuts {
 public:
  using Histogram = std::array<std::uint64_t, 256>;

  SceneCuts() = default;
  /// Those that are known already: everything is decided.
  explicit SceneCuts(std::span<const std::int64_t> starts);

  [[nodiscard]] static Histogram histogram_of(std::span<const std::uint8_t> luma);

  /// The histogram of the next frame.
  void add(const Histogram& histogram);
  /// There is no other frame.
  void end();

  /// Frames before this one are decided. One that differs from the scene before is, when the frame after it is known.
  [[nodiscard]] std::int64_t decided() const { return decided_; }
  /// Whether a decided frame starts a scene.
  [[nodiscard]] bool starts_scene(std::int64_t index) const { return cuts_.contains(index); }

 private:
  void decide();

  std::set<std::int64_t> cuts_;
  std::int64_t decided_ = 0;
  Histogram scene_{};              ///< of the last frame that was no flash
  std::deque<Histogram> pending_;  ///< of frame decided_ and those after it
  bool ended_ = false;
};

}  // namespace c63
