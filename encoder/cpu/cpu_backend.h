#pragma once

#include <memory>

#include "backend/backend.h"
#include "decide/resolved_encode.h"

namespace c63::cpu {

/// Opens the CPU as a device: execution.lanes of the settings GOP chains (0: one more than threads, so that no GOP is left over to be
/// coded alone; one for a single thread), at most max_chains, on the threads of settings' arena.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(const ResolvedEncode& encode, int max_chains);

}  // namespace c63::cpu
