#pragma once

#include <span>

#include "c63/frame_source.h"
#include "c63/thread_arena.h"

namespace c63::bench {

/// Bytes a second at which all threads of an arena together read frames of a source into page-locked memory.
[[nodiscard]] double measure_reading(FrameSource& source, ThreadArena& arena);

/// The same while GPUs fetch what was read, over all their buses: the most that encodes can get of the source whose GPUs do
/// nothing else. What is fetched takes its share of the host's memory, too.
[[nodiscard]] double measure_feeding(FrameSource& source, ThreadArena& arena, std::span<const int> devices);

}  // namespace c63::bench
