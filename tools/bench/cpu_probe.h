#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "c63/settings.h"

namespace c63::bench {

/// The limits of kernels.
enum class Limit {
  absolute_differences,  ///< sums of absolute differences, each with an addition, in registers
  loads,                 ///< bytes read from the memory that the kernels read
  float_operations,      ///< binary32 products, each with an addition, in registers
  codes,                 ///< look-ups in a table of short codes, each at the end of the previous one
};

/// The most that the machine can do with an instruction set: a loop of nothing else.
struct CeilingProbe {
  std::string name;
  Limit limit;
  SimdLevel level;
  double amount = 0;  ///< of one run
  std::function<void()> run;
};

/// Returns the probes of this machine's instruction sets. Loads read `samples`.
[[nodiscard]] std::vector<CeilingProbe> ceiling_probes(std::span<const std::uint8_t> samples);

/// Runs `count` dependent additions. Every CPU that matters here does one in a clock, so their time gives the clock
/// rate.
void run_clock(std::uint64_t count);

}  // namespace c63::bench
