#pragma once

#include "c63/frame_source.h"
#include "c63/thread_arena.h"

namespace c63::bench {

/// Bytes a second at which all threads of an arena together read frames of a source into page-locked memory: the most that
/// encodes can get of it whose GPUs take nothing else.
[[nodiscard]] double measure_reading(FrameSource& source, ThreadArena& arena);

}  // namespace c63::bench
