#pragma once

#include <memory>

#include "backend/backend.h"
#include "decide/resolved_encode.h"

namespace c63::cpu {

/// Opens the CPU as a device. It has as many GOP chains as execution.lanes, at most max_chains. 0 means one more than
/// threads, so that the last GOP is not coded alone; or one for a single thread. Uses the threads of the settings'
/// arena.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(const ResolvedEncode& encode, int max_chains);

}  // namespace c63::cpu
