#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

namespace c63::cuda {

/// What a device offers to a kernel.
struct DeviceLimits {
  int architecture = 0;          ///< 90 for sm_90
  std::size_t shared_bytes = 0;  ///< the most shared memory of a thread block, static and dynamic
  int threads = 0;               ///< the most resident threads of a multiprocessor
  bool bulk_copies = false;      ///< has bulk tensor copies, and barriers that count the copied bytes
};

/// What a kernel needs of a device. Its registers and its static shared memory are known from its code.
struct KernelNeeds {
  const void* kernel = nullptr;
  int threads = 0;               ///< of a thread block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a thread block
  /// The oldest architecture for which the kernel's body is compiled. Code for an older one has an empty body. 0: the
  /// body is compiled for every architecture.
  int since = 0;
  bool bulk_copies = false;
};

/// Returns true if the current device can run the kernel with the code that this build has for it. If so, it also allows
/// the kernel its dynamic shared memory. This is the only place that chooses between forms of a kernel by the device:
/// callers ask for the best form first.
[[nodiscard]] bool can_run(const KernelNeeds& needs);

/// The limits of the current device, which must be usable. For reports and for can_run().
[[nodiscard]] DeviceLimits device_limits();

/// The limits of cards that c63 supports, one of each kind.
[[nodiscard]] std::span<const DeviceLimits> known_cards();

/// Returns how much dynamic shared memory a launch must take in addition, so that a multiprocessor holds no more thread
/// blocks than one of the pretended card. 0 if no card is pretended, or if the device holds no more anyway.
[[nodiscard]] std::size_t pretended_padding(const void* kernel, int threads, std::size_t shared_bytes);

/// For tests and benches: until the end of the scope, device_limits() returns for every device what a card of this
/// architecture offers, which must be one of known_cards(). So can_run() chooses the kernels that such a card would run.
/// Objects that were made before keep their kernels. As many thread blocks stay on a multiprocessor as on the card.
class PretendedCard {
 public:
  explicit PretendedCard(int architecture);
  PretendedCard(const PretendedCard&) = delete;
  PretendedCard& operator=(const PretendedCard&) = delete;
  ~PretendedCard();
};

}  // namespace c63::cuda
