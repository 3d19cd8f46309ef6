#pragma once

#include <cstdint>
#include <string>

namespace c63::tools {

/// The machine on which something is measured.
struct Machine {
  std::string cpu;            ///< model name; "unknown" if the system does not say
  unsigned logical_cpus = 0;  ///< CPUs that this process may use
  std::uint64_t memory_bytes = 0;
  std::string system;  ///< kernel name, release and architecture
};

[[nodiscard]] Machine this_machine();

}  // namespace c63::tools
