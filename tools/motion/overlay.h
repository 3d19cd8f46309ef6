#pragma once

#include <cstdint>

#include "motion/motion_stream.h"
#include "pictures/image.h"

namespace c63::tools {

/// What a motion picture shows.
struct OverlayOptions {
  enum class Background { reconstruction, prediction };
  enum class Heat { none, sad, bits };

  Background background = Background::reconstruction;
  bool vectors = true;  ///< an arrow from each luma block to where it was predicted from; a dot for the zero vector
  Heat heat = Heat::none;
  int scale = 3;  ///< pixels a sample
};

/// Luma's blocks over the picture. Arrows are green to yellow by length; blocks without a vector in inter frames have a
/// magenta frame. The brightest heat is the largest value of the frame. A repeat is the picture alone.
/// Where blocks do not line up with the picture, it is shown as it is coded, sheared and padded.
[[nodiscard]] Image motion_picture(const MotionFrame& frame, const OverlayOptions& options);

}  // namespace c63::tools
