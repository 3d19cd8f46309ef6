#pragma once

#include <span>

#include "c63/frame_source.h"
#include "c63/thread_arena.h"

namespace c63::bench {

/// Returns how many bytes per second all threads of an arena read from a source into page-locked memory.
[[nodiscard]] double measure_reading(FrameSource& source, ThreadArena& arena);

/// Returns the rate of measure_reading() while GPUs fetch the frames over all their buses. No encode from that source
/// can be faster. Fetching takes a part of the host memory's rate, too.
[[nodiscard]] double measure_feeding(FrameSource& source, ThreadArena& arena, std::span<const int> devices);

}  // namespace c63::bench
