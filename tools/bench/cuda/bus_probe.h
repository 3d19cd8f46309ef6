#pragma once

#include <span>

namespace c63::bench {

/// Bytes a second from page-locked host memory to GPUs.
struct BusRates {
  double alone = 0;     ///< to one at a time: their median
  double together = 0;  ///< to all at once: their sum, because GPUs may share the host's memory and switches
};

/// Measures with copies of 64 MiB. Every GPU has its own source. Needs at least one device.
[[nodiscard]] BusRates measure_buses(std::span<const int> devices);

}  // namespace c63::bench
