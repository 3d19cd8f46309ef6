// Opens the GPUs of CudaBackendOptions as the devices of a run, and chooses how many GOP chains each one gets.

#include <algorithm>
#include <memory>
#include <string>

#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "c63/settings.h"
#include "cuda_me/backend/cuda_backend.h"

namespace c63::cuda {
namespace {

constexpr int kTraceRows = 3;  ///< rows of a device in the trace (MeasurementSettings::trace)

/// The number of chains that makes batches large enough to be worth their launches. The MCUs of such a batch fill a
/// device several times over (docs/notes/gpu-host.md). Decisions by rate need larger batches: they take many more
/// launches, and they divide the chains into two sides (RateStages). With look-ahead, the number does not depend on the
/// size of frames, because looking ahead leaves most of a device idle.
int preferred_chains(const ResolvedEncode& encode) {
  constexpr std::int64_t kFewest = 4;
  if (encode.lookahead.any()) return 32;
  const bool by_rate = encode.rate.any();
  const std::int64_t mcus_a_batch = by_rate ? 3 * 65536 : 65536;
  const std::int64_t most = by_rate ? 64 : 32;
  return static_cast<int>(std::clamp((mcus_a_batch + encode.geometry.mcus() - 1) / encode.geometry.mcus(), kFewest, most));
}

/// Opens one device after another until one is usable, so that no more are opened than needed.
int first_usable_device() {
  const auto count = static_cast<int>(listed_devices().devices.size());
  for (int device = 0; device + 1 < count; ++device) {
    try {
      return require_device(device).index;
    } catch (const Error&) {
    }
  }
  return require_device(std::max(0, count - 1)).index;  // throws with the reason if this one is not usable
}

/// Opens a device. If the chains do not fit in memory, halves their number until they do.
std::unique_ptr<Backend> open_device(const ResolvedEncode& encode, const CudaBackendOptions& options,
                                     const DeviceChoice& device, int max_chains) {
  const EncoderSettings& settings = encode.settings;
  if (!is_exhaustive(settings.coding.method)) {
    throw Error(ErrorKind::device, "C63-CUDA-METHOD",
                "search method " + std::string(name(settings.coding.method)) + " runs on the CPU only (--backend cpu)");
  }
  static_cast<void>(require_device(device.index));
  const DeviceGuard guard(device.index);
  int chains = std::max(1, max_chains);
  if (settings.execution.lanes == 0) chains = std::min(chains, preferred_chains(encode));
  for (;; chains /= 2) {
    try {
      return std::make_unique<CudaBackend>(encode, options, device, chains);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      if (chains == 1) {
        throw Error(ErrorKind::device, "C63-CUDA-MEMORY",
                    "the GPU has too little memory to encode one GOP at a time, which takes " +
                        std::to_string(device_bytes_per_chain(settings, options)) + " bytes: " + error.message());
      }
    }
  }
}

}  // namespace

std::vector<BackendFactory> make_backend_factories(const CudaBackendOptions& options) {
  if (options.devices.empty()) {
    return {[options](const ResolvedEncode& encode, int max_chains) {
      const int device = first_usable_device();
      return open_device(encode, options, {device, device}, max_chains);
    }};
  }
  std::vector<BackendFactory> factories;
  for (std::size_t i = 0; i < options.devices.size(); ++i) {
    const DeviceChoice device{.index = options.devices[i],
                              .number = i < options.numbers.size() ? options.numbers[i] : options.devices[i],
                              .trace_row = static_cast<int>(i) * kTraceRows};
    factories.emplace_back([options, device](const ResolvedEncode& encode, int max_chains) {
      return open_device(encode, options, device, max_chains);
    });
  }
  return factories;
}

}  // namespace c63::cuda
