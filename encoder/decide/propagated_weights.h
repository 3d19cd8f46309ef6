#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/geometry.h"
#include "decide/cost.h"
#include "decide/frame_weights.h"
#include "decide/source_motion.h"

namespace c63 {

/// What a luma block takes over of the error of its reference: one that is predicted well passes it on instead of coding it
/// away.
struct PassedError {
  MotionVector vector;
  std::uint16_t share = 0;  ///< of the squared error, with 8 fraction bits
};
/// Of all luma blocks of a frame, in raster order.
using ErrorFlow = std::vector<PassedError>;

/// How the errors of the frame before flow into a frame that has this motion against it and is coded with this λ.
[[nodiscard]] ErrorFlow error_flow(const SourceMotion& motion, Cost lambda);

/// A frame behind the one that is weighed.
struct LaterFrame {
  const ErrorFlow* flow = nullptr;
  std::size_t back = 1;  ///< how many frames before it lies its reference
};

/// Weights of a frame by how much of its error will be seen, and for how long. `later` has the frames behind it, in order.
[[nodiscard]] FrameWeights propagated_weights(const Geometry& geometry, std::span<const LaterFrame> later);

}  // namespace c63
