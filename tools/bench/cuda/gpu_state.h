#pragma once

#include "bench/bench.h"
#include <string>

namespace c63::bench {

/// Clock, power and temperature of a GPU during a measurement, read through NVML, NVIDIA's library for monitoring. Without
/// that library, nothing is known.
class GpuState {
 public:
  /// `pci_address` looks like "0000:1b:00.0".
  explicit GpuState(const std::string& pci_address);
  ~GpuState();
  GpuState(const GpuState&) = delete;
  GpuState& operator=(const GpuState&) = delete;

  /// Takes a sample. Call it while the GPU works or just after: an idle GPU lowers its clock.
  void sample();

  [[nodiscard]] bool throttled() const;
  /// Returns one line for the user. Empty if nothing is known.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json to_json() const;

 private:
  struct Nvml;
  Nvml* nvml_ = nullptr;
  void* device_ = nullptr;
  int samples_ = 0;
  unsigned lowest_mhz_ = 0;
  unsigned highest_mhz_ = 0;
  unsigned most_mhz_ = 0;  ///< highest clock of this GPU
  unsigned memory_mhz_ = 0;
  unsigned most_milliwatts_ = 0;
  unsigned limit_milliwatts_ = 0;
  unsigned celsius_ = 0;
  unsigned long long reasons_ = 0;  ///< reasons for lowered clocks, NVML's bits, of all samples together
};

/// Returns the PCI address of the current device.
[[nodiscard]] std::string pci_address_of_device();

}  // namespace c63::bench
