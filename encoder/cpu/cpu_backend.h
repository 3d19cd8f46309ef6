#pragma once

#include <memory>

#include "backend/backend.h"
#include "decide/resolved_encode.h"

namespace c63::cpu {

/// Opens the CPU as a device that runs execution.lanes GOP chains, at most max_chains. With a look-ahead, the memory
/// limit may allow fewer. If lanes is 0, it has one more chain than threads, so that the last GOP is not coded alone;
/// with a single thread it has one chain. It uses the threads of the settings' arena.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(const ResolvedEncode& encode, int max_chains);

}  // namespace c63::cpu
