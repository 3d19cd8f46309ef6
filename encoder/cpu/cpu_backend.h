#pragma once

#include <memory>

#include "c63/encoder.h"
#include "pipeline/backend.h"

namespace c63::cpu {

/// Opens the CPU backend: settings.execution.threads threads, settings.execution.lanes lanes (0: one more than threads, so that no
/// GOP is left over to be coded alone; one for a single thread), at most max_lanes.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(const EncoderSettings& settings, int max_lanes);

}  // namespace c63::cpu
