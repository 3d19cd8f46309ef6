#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "c63/settings.h"

namespace c63::bench {

/// What a kernel can be limited by.
enum class Limit {
  absolute_differences,  ///< sums of absolute differences, each paired with its add, on registers
  loads,                 ///< bytes read from where the kernels read them
  float_operations,      ///< binary32 products, each paired with a sum, on registers
  codes,                 ///< looks into a table of short codes, each where the one before ended
};

/// What the machine can do at most with the registers of an instruction set: a loop of nothing else.
struct CeilingProbe {
  std::string name;
  Limit limit;
  SimdLevel level;
  double amount = 0;  ///< of one run
  std::function<void()> run;
};

/// The probes of the instruction sets that this machine has; loads are of `samples`.
[[nodiscard]] std::vector<CeilingProbe> ceiling_probes(std::span<const std::uint8_t> samples);

/// Runs `count` dependent additions: one a clock on every CPU that matters here, so the time of it is the clock.
void run_clock(std::uint64_t count);

}  // namespace c63::bench
