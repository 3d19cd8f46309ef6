#pragma once

#include <span>

#include "c63/frame_source.h"
#include "c63/thread_arena.h"

namespace c63::bench {

/// Returns the bytes a second at which all threads of an arena read frames of a source into page-locked memory.
[[nodiscard]] double measure_reading(FrameSource& source, ThreadArena& arena);

/// The same while GPUs fetch the frames over all their buses. It is the most that encodes from that source can reach.
/// Fetching uses a part of the host's memory rate, too.
[[nodiscard]] double measure_feeding(FrameSource& source, ThreadArena& arena, std::span<const int> devices);

}  // namespace c63::bench
