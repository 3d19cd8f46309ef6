#pragma once

#include <cstdint>
#include <string>

namespace c63::tools {

/// What a measurement was taken on.
struct Machine {
  std::string cpu;            ///< model name, "unknown" where the system does not tell
  unsigned logical_cpus = 0;  ///< those this process may run on
  std::uint64_t memory_bytes = 0;
  std::string system;  ///< kernel name, release and architecture
};

[[nodiscard]] Machine this_machine();

}  // namespace c63::tools
