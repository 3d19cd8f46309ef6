#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "bench/cuda/race_gpu.h"
#include "bench/race_files.h"
#include "common/process.h"
#include "cuda_me/runtime/check.h"
#include "files/scratch_folder.h"

namespace c63::bench {

void GpuState::sample() {
  int device = 0;
  std::array<char, 32> address{};
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device), "cudaDeviceGetPCIBusId");
  const ScratchFolder folder("", "c63-state");
  const std::string out = folder.file("state");
  static_cast<void>(tools::run_process(
      fmt::format("exec nvidia-smi --id={} --format=csv,noheader,nounits --query-gpu=clocks.sm,clocks.max.sm,"
                  "clocks.mem,power.draw,enforced.power.limit,temperature.gpu,clocks_throttle_reasons.active",
                  address.data()),
      {}, out, folder.path(), {}, {.seconds = 10}));
  double mhz = 0;
  double watts = 0;
  double celsius = 0;
  unsigned long long reasons = 0;
  if (std::sscanf(text_of(out).c_str(), "%lf, %lf, %lf, %lf, %lf, %lf, %llx", &mhz, &most_mhz_, &memory_mhz_, &watts,
                  &watts_limit_, &celsius, &reasons) != 7)
    return;
  lowest_mhz_ = samples_ == 0 ? mhz : std::min(lowest_mhz_, mhz);
  highest_mhz_ = std::max(highest_mhz_, mhz);
  most_watts_ = std::max(most_watts_, watts);
  most_celsius_ = std::max(most_celsius_, celsius);
  for (const auto& [bit, reason] : {std::pair{0x4, "power limit"},
                                    {0x8, "hardware slowdown"},
                                    {0x20, "software thermal limit"},
                                    {0x40, "hardware thermal limit"},
                                    {0x80, "power brake"}}) {
    if ((reasons & static_cast<unsigned>(bit)) != 0) throttled_by_.insert(reason);
  }
  ++samples_;
}

std::string GpuState::text() const {
  if (samples_ == 0) return {};
  std::string text =
      fmt::format("clock {} to {} MHz of {}, memory {} MHz, up to {:.0f} W of {:.0f}, {} °C", lowest_mhz_, highest_mhz_,
                  most_mhz_, memory_mhz_, most_watts_, watts_limit_, most_celsius_);
  for (const std::string& reason : throttled_by_) text += "; THROTTLED by " + reason;
  return text;
}

Json GpuState::to_json() const {
  if (samples_ == 0) return nullptr;
  return {{"sm_mhz", {lowest_mhz_, highest_mhz_}},
          {"sm_mhz_most", most_mhz_},
          {"memory_mhz", memory_mhz_},
          {"watts", most_watts_},
          {"watts_limit", watts_limit_},
          {"celsius", most_celsius_},
          {"throttled_by", throttled_by_},
          {"samples", samples_}};
}

}  // namespace c63::bench
