#include "cuda_me/runtime/needs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>

#include "c63/cuda/devices.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr std::size_t kKiB = 1024;

/// From the table of technical specifications in NVIDIA's CUDA programming guide.
constexpr std::array kCards = {
    DeviceLimits{75, 64 * kKiB, 1024, false},  DeviceLimits{80, 163 * kKiB, 2048, false},
    DeviceLimits{86, 99 * kKiB, 1536, false},  DeviceLimits{87, 163 * kKiB, 1536, false},
    DeviceLimits{89, 99 * kKiB, 1536, false},  DeviceLimits{90, 227 * kKiB, 2048, true},
    DeviceLimits{100, 227 * kKiB, 2048, true}, DeviceLimits{120, 99 * kKiB, 1536, true},
};

constexpr int kThreadsOfABlock = 1024;   // on every card
constexpr int kRegistersOfABlock = 65536;
constexpr int kFirstWithBulkCopies = 90;

std::atomic<const DeviceLimits*> pretended = nullptr;

cudaFuncAttributes code_of(const void* kernel) {
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, kernel), "cudaFuncGetAttributes");
  return code;
}

DeviceLimits limits_of_device() {
  const int index = current_device();
  const DeviceInfo& device = require_device(index);
  DeviceLimits limits;
  limits.architecture = device.architecture;
  limits.shared_bytes = device.shared_bytes_per_block;
  check(cudaDeviceGetAttribute(&limits.threads, cudaDevAttrMaxThreadsPerMultiProcessor, index), "cudaDeviceGetAttribute");
  limits.bulk_copies = limits.architecture >= kFirstWithBulkCopies;
  return limits;
}

}  // namespace

std::span<const DeviceLimits> known_cards() { return kCards; }

DeviceLimits device_limits() {
  const DeviceLimits* const card = pretended;
  return card != nullptr ? *card : limits_of_device();
}

bool can_run(const KernelNeeds& needs) {
  const DeviceLimits limits = device_limits();
  const cudaFuncAttributes code = code_of(needs.kernel);
  // ptxVersion is the architecture for which the source was compiled. A driver may compile its PTX for a newer device.
  if (std::min(code.ptxVersion, limits.architecture) < needs.since) return false;
  if (needs.bulk_copies && !limits.bulk_copies) return false;
  if (needs.threads > std::min(kThreadsOfABlock, limits.threads)) return false;
  if (needs.threads * code.numRegs > kRegistersOfABlock) return false;
  if (code.sharedSizeBytes + needs.shared_bytes > limits.shared_bytes) return false;
  if (code.sharedSizeBytes + needs.shared_bytes > kAlwaysAllowed) allow_shared_bytes(needs.kernel, needs.shared_bytes);
  return true;
}

std::size_t pretended_padding(const void* kernel, int threads, std::size_t shared_bytes) {
  const DeviceLimits* const card = pretended;
  if (card == nullptr) return 0;
  constexpr std::size_t kReserved = kKiB;  // for each thread block
  constexpr std::size_t kGranule = 128;    // of shared memory
  const std::size_t most = limits_of_device().shared_bytes;
  const std::size_t used = code_of(kernel).sharedSizeBytes + shared_bytes;
  const std::size_t resident = std::min((card->shared_bytes + kReserved) / (used + kReserved),
                                        static_cast<std::size_t>(std::max(card->threads / threads, 1)));
  if (resident == 0) return 0;
  const std::size_t room = std::min((most + kReserved) / resident - kReserved, most) / kGranule * kGranule;
  if (room <= used) return 0;
  const std::size_t padding = room - used;
  if (room > kAlwaysAllowed) allow_shared_bytes(kernel, shared_bytes + padding);
  return padding;
}

PretendedCard::PretendedCard(int architecture) {
  const auto* const card = std::ranges::find(kCards, architecture, &DeviceLimits::architecture);
  if (card == kCards.end()) throw std::invalid_argument("no such card");
  pretended = card;
}

PretendedCard::~PretendedCard() { pretended = nullptr; }

}  // namespace c63::cuda
