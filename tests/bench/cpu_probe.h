#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace c63::bench {

/// What the machine can do at most: a loop of nothing but one instruction paired with its add, on registers.
struct CeilingProbe {
  std::string name;
  double absolute_differences = 0;  ///< of one run
  void (*run)() = nullptr;
};

/// The probes of the instruction sets that this machine has.
[[nodiscard]] std::vector<CeilingProbe> ceiling_probes();

/// Runs `count` dependent additions: one a clock on every CPU that matters here, so the time of it is the clock.
void run_clock(std::uint64_t count);

}  // namespace c63::bench
