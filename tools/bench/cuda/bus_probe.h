#pragma once

#include <span>

namespace c63::bench {

/// Rates of copies from page-locked host memory to GPUs, in bytes per second.
struct BusRates {
  double alone = 0;     ///< to one GPU at a time: the median over the GPUs
  double together = 0;  ///< to all GPUs at once: the sum, because they may share the host's memory and switches
};

/// Measures with copies of 64 MiB. Each GPU reads its own host memory. Needs at least one device.
[[nodiscard]] BusRates measure_buses(std::span<const int> devices);

}  // namespace c63::bench
