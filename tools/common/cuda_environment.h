#pragma once

#include <span>

#include "c63/settings.h"

namespace c63::tools {

// Sets environment variables that the CUDA driver reads when a process first uses it. Only programs call these
// functions, never the library, and before any call of CUDA.

/// Hides all GPUs except `devices` from CUDA, which then numbers them from 0. It saves time: the driver opens every
/// visible GPU, which takes 0.1 to 0.2 s each. `devices` are numbers among the GPUs visible so far, without duplicates.
/// Returns false and hides nothing if the user's CUDA_VISIBLE_DEVICES lists fewer GPUs. Other missing GPUs are not noticed.
[[nodiscard]] bool show_only_devices(std::span<const int> devices);

/// Makes the driver open GPUs with `count` hardware queues instead of eight, because each queue takes up to 60 ms to
/// open and close (docs/notes/gpu-host.md). Encoding needs two, so that one batch is transformed while another is
/// entropy-coded. One is better for a short encode. If the user has set the number in the environment, that number
/// stays.
void ask_for_queues(int count);

/// Returns the number of queues that suits these settings for a long encode: eight for presets that look ahead, because each
/// lane then has a CUDA stream for looking ahead; otherwise two.
[[nodiscard]] int queues_for(const CodingSettings& settings);

}  // namespace c63::tools
