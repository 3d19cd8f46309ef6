#pragma once

#include "decide/cost.h"
#include "decide/source_motion.h"

// A frame without SOF is predicted from what the frame before was predicted from, and takes that frame's place: nothing is
// predicted from the frame before, then, which may be coded with fewer bits. Such a frame *stays*, others *advance*.

namespace c63 {

/// So many frames before a frame may lie its reference.
inline constexpr int kMostFramesBack = 4;

/// Whether a frame stays that has the motion `advancing` against the frame before, and `staying` against that one's reference.
[[nodiscard]] bool is_to_stay(const SourceMotion& advancing, const SourceMotion& staying, Cost lambda);

/// Whether a frame that has this motion against the frame before is so much like it that it may become a repeat of it: then
/// the frame behind it must advance.
[[nodiscard]] bool is_hardly_new(const SourceMotion& motion, Cost lambda);

}  // namespace c63
