#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "motion/motion_stream.h"
#include "pictures/image.h"

namespace c63::tools {

/// What a motion picture shows.
struct OverlayOptions {
  enum class Background { reconstruction, prediction };
  enum class Heat { none, sad, bits };

  Background background = Background::reconstruction;
  bool vectors = true;  ///< an arrow from each luma block to the place that predicts it; a dot for the zero vector
  Heat heat = Heat::none;
  int scale = 3;  ///< pixels per sample
};

/// Returns width and height of the picture for the blocks: the blocks' own if they are not aligned with the frame's.
[[nodiscard]] std::pair<int, int> shown_size(const FrameBlocks& blocks);
/// Returns the samples of a frame as that picture, in linear 4:2:0 layout.
[[nodiscard]] std::vector<std::uint8_t> shown_samples(std::span<const std::uint8_t> frame, const FrameBlocks& blocks);

/// Draws luma's blocks over the picture. Arrows are green to yellow by length. Blocks without a vector in inter frames
/// have a magenta frame. The brightest heat is the 99th percentile of the frame. Blocks without a vector have no SAD. A
/// repeat is only the picture. If blocks are not aligned with the picture, it is shown as it is coded, sheared and
/// padded.
[[nodiscard]] Image motion_picture(const MotionFrame& frame, const OverlayOptions& options);

}  // namespace c63::tools
