#pragma once

#include <span>

#include "c63/settings.h"

namespace c63::tools {

// What the CUDA driver reads from the environment when a process first uses it. Only programs set it, and only before they
// call anything of CUDA.

/// Hides all GPUs but these, which CUDA numbers from 0 then: a driver that starts opens all it may show, 0.1 to 0.2 s each.
/// `devices` are numbers among those visible so far, without repeats. False, and nothing is hidden, where one does not exist.
[[nodiscard]] bool show_only_devices(std::span<const int> devices);

/// Has the driver open GPUs with so many hardware queues instead of eight: each takes it up to 60 ms to open and close
/// (docs/gpu.md). Two are what a backend's batches need, so that coding and the scan beside it do not wait for each other;
/// one is better where there is little to encode. What the environment says already stays.
void ask_for_queues(int count);

/// How many suit these settings where there is much to encode: eight where frames are looked at before they are coded, since
/// each lane's are a stream of its own then.
[[nodiscard]] int queues_for(const CodingSettings& settings);

}  // namespace c63::tools
