#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "c63/encoder.h"
#include "c63/enum_names.h"
#include "generate/scene.h"

namespace c63 {

enum class Pattern {
  natural,  ///< the default sequence: pan, zoom, objects, occlusion, sensor noise
  pan,
  zoom,
  rotate,
  objects,
  noise,
  checker,
  stars,
};

struct SequenceOptions {
  Pattern pattern = Pattern::natural;
  int width = 352;
  int height = 288;
  std::int64_t frames = 300;
  std::uint32_t seed = 1;
  /// The motion per frame, to the right and down, in 1/256 sample. In `objects`, it is the highest speed of an object
  /// in each direction; in `stars`, the motion of the moving object; in other patterns, that of the background. Empty:
  /// the pattern's default.
  std::optional<std::pair<int, int>> motion = {};
  /// The standard deviation of the sensor noise of luma in 1/16 grey level, up to 4096. Chroma has half of it, or none
  /// in `stars`. Empty: the pattern's default.
  std::optional<int> noise = {};
  FrameRate rate = {};
  Limits limits = {};
};

/// The true motion of an 8x8 luma block. In the previous frame, the block was x further right and y further down, in
/// 1/256 sample.
struct TrueVector {
  std::int32_t x = 0;
  std::int32_t y = 0;
  bool known = false;  ///< false: the block was hidden or outside the picture, or has more than one motion
};

/// The true motion of each whole 8x8 block of luma, in raster order.
struct TrueMotion {
  int columns = 0;
  int rows = 0;
  std::vector<TrueVector> vectors;
};

/// Generates video with known motion, with integer arithmetic only: equal options give equal bytes on every machine.
/// Each frame depends only on its index, so any number of threads may call read() at once.
class SequenceGenerator final : public FrameSource {
 public:
  /// Throws Error (usage, limit) for sizes that cannot be coded and for values out of range.
  explicit SequenceGenerator(const SequenceOptions& options);
  ~SequenceGenerator() override;

  [[nodiscard]] VideoFormat format() const override;
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override;
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

  /// Returns the motion against frame - 1. All vectors are unknown for frame 0 and for frames that do not exist.
  [[nodiscard]] TrueMotion true_motion(std::int64_t frame) const;
  /// Returns what pattern `stars` shows in a frame; empty for other patterns.
  [[nodiscard]] std::optional<StarTruth> star_truth(std::int64_t frame) const;

 private:
  SequenceOptions options_;
  std::unique_ptr<const Scene> scene_;
  std::unique_ptr<const StarField> stars_;
};

}  // namespace c63
