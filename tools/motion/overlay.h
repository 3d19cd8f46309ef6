#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "motion/motion_stream.h"
#include "pictures/image.h"

namespace c63::tools {

/// What motion_picture() draws.
struct OverlayOptions {
  enum class Background { reconstruction, prediction };
  enum class Heat { none, sad, bits };

  Background background = Background::reconstruction;
  bool vectors = true;  ///< draw an arrow from each luma block to the block that predicts it; a dot for the zero vector
  bool codec = false;   ///< draw the vectors of the film's own codec
  Heat heat = Heat::none;
  int scale = 3;  ///< pixels per sample
};

/// Returns width and height of the picture to draw on. If the blocks are not aligned with the frame, it is the size of
/// the coded, padded picture.
[[nodiscard]] std::pair<int, int> shown_size(const MotionFrame& frame);
/// Returns `samples` in the size of shown_size(), with planes one after another in 4:2:0.
[[nodiscard]] std::vector<std::uint8_t> shown_samples(std::span<const std::uint8_t> samples, const MotionFrame& frame);

/// Draws the luma blocks over the picture. Arrows are green to yellow by length. In inter frames, blocks without a
/// vector get a magenta border. The brightest heat is the 99th percentile of the frame. Blocks without a vector have no
/// SAD. For a repeat, only the picture is drawn. If blocks are not aligned with the picture, the coded picture is
/// drawn, sheared and padded.
[[nodiscard]] Image motion_picture(const MotionFrame& frame, const OverlayOptions& options);

}  // namespace c63::tools
