#pragma once

#include <span>

#include "codec/geometry.h"
#include "decide/cost.h"
#include "decide/frame_weights.h"
#include "decide/source_motion.h"

namespace c63 {

/// Weights of a frame by what becomes of its errors: a block that is predicted well passes its reference's error on instead
/// of coding it away, and the next frame may do so again. `later` has the motion of the frames behind it, each against the
/// one before, in order; `lambda` is that of the frames.
[[nodiscard]] FrameWeights propagated_weights(const Geometry& geometry, std::span<const SourceMotion* const> later,
                                              Cost lambda);

}  // namespace c63
