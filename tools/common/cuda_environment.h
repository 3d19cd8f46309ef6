#pragma once

#include <span>

#include "c63/settings.h"

namespace c63::tools {

// What the CUDA driver reads from the environment when a process first uses it. Only programs set it, before they call
// anything of CUDA.

/// Hides all GPUs except these; CUDA then numbers them from 0. The driver opens every GPU that it may see, 0.1 to 0.2 s
/// each. `devices` are numbers among the GPUs visible so far, without repeats. Returns false, and hides nothing, if one
/// does not exist.
[[nodiscard]] bool show_only_devices(std::span<const int> devices);

/// Makes the driver open GPUs with this many hardware queues instead of eight. Each queue takes up to 60 ms to open and
/// close (docs/notes/gpu-host.md). The batches of a backend need two, so that coding and the scan of another batch do
/// not wait for each other. One is better if there is little to encode. A value that the environment has already stays.
void ask_for_queues(int count);

/// Returns the number of queues that suits these settings for a long encode. It is eight for presets that look ahead,
/// because each lane then has a stream for that.
[[nodiscard]] int queues_for(const CodingSettings& settings);

}  // namespace c63::tools
