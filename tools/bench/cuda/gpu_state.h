#pragma once

#include <memory>
#include <string>

#include "bench/bench.h"

namespace c63::bench {

/// Clock, power and temperature of a GPU during a measurement, read through NVML, NVIDIA's library for monitoring. Without
/// that library, nothing is known.
class GpuState {
 public:
  /// `pci_address` looks like "0000:1b:00.0".
  explicit GpuState(const std::string& pci_address);
  ~GpuState();

  /// Takes a sample. Call it while the GPU works or just after: an idle GPU lowers its clock.
  void sample();

  /// Returns one line for the user. Empty if nothing is known.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json to_json() const;

 private:
  struct Nvml;
  std::unique_ptr<Nvml> nvml_;  ///< null if nothing can be known
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
