#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "c63/settings.h"

namespace c63::bench {

/// What can bound a kernel.
enum class Limit {
  absolute_differences,  ///< absolute differences of bytes per second, each added to a sum, in registers
  loads,                 ///< bytes loaded per second from the samples that the kernels read
  float_operations,      ///< binary32 products per second, each added to a sum, in registers
  codes,                 ///< look-ups per second in a table of codes, each begins where the one before ended
};

/// A loop that does nothing but one kind of work. Its speed is the ceiling of an instruction set.
struct CeilingProbe {
  std::string name;
  Limit limit;
  SimdLevel level;
  double amount = 0;  ///< work of one run
  std::function<void()> run;
};

/// Returns the probes for the instruction sets of this machine. The probes that load bytes read `samples`. On CPUs other
/// than x86-64, there is only the probe of Limit::codes.
[[nodiscard]] std::vector<CeilingProbe> ceiling_probes(std::span<const std::uint8_t> samples);

/// Runs `count` dependent additions. Each takes one cycle on all CPUs of interest, so their time gives the clock rate.
void run_clock(std::uint64_t count);

}  // namespace c63::bench
