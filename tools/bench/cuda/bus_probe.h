#pragma once

#include <span>

namespace c63::bench {

/// Bytes a second from page-locked memory of the host to GPUs.
struct BusRates {
  double alone = 0;     ///< to one at a time: the median of them
  double together = 0;  ///< to all at once, their sum: GPUs may share what the host's memory and its switches give
};

/// Measures with copies of 64 MiB, of which every GPU has a source of its own. At least one device.
[[nodiscard]] BusRates measure_buses(std::span<const int> devices);

}  // namespace c63::bench
