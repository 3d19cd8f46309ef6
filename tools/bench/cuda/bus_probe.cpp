#include "bench/cuda/bus_probe.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/figures.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = 64U << 20;
constexpr int kRounds = 8;  ///< the first round is not counted
constexpr int kCopies = 4;  ///< for each GPU in a round

/// Buffers for copies from the host to one GPU. That GPU must be the current device when a Bus is created.
struct Bus {
  cuda::PinnedBuffer<std::uint8_t> host{kBytes};
  cuda::DeviceBuffer<std::uint8_t> memory{kBytes};
  cuda::Stream stream;
};

/// Returns the bytes per second of copies to all these GPUs at the same time.
double rate(std::span<const std::unique_ptr<Bus>> buses) {
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < kCopies; ++i) {
      for (const auto& bus : buses) cuda::copy_async(bus->memory.data(), bus->host.data(), kBytes, bus->stream);
    }
    for (const auto& bus : buses) bus->stream.synchronize();
    const std::chrono::duration<double> time = Clock::now() - start;
    if (round > 0) rates.push_back(static_cast<double>(buses.size() * kCopies * kBytes) / time.count());
  }
  return summarize(rates).median;
}

}  // namespace

BusRates measure_buses(std::span<const int> devices) {
  std::vector<std::unique_ptr<Bus>> buses;
  for (const int device : devices) {
    const cuda::DeviceGuard guard(device);
    buses.push_back(std::make_unique<Bus>());
  }
  std::vector<double> alone;
  for (const auto& bus : buses) alone.push_back(rate({&bus, 1}));
  BusRates rates{.alone = summarize(alone).median, .together = alone.front()};
  if (buses.size() > 1) rates.together = rate(buses);
  return rates;
}

}  // namespace c63::bench
