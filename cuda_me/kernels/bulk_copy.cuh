#pragma once

// Instructions of Hopper GPUs for which CUDA has no simple function: bulk tensor copies, and barriers that count the
// copied bytes.

#include <cuda.h>

#include <cstdint>

namespace c63::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void make_ready(std::uint64_t& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(std::uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

/// Arrives at the barrier. The barrier's current phase then ends only after copies have brought another `bytes` bytes.
__device__ __forceinline__ void arrive_and_expect(std::uint64_t& barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void wait_for(const std::uint64_t& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra end;\n"
      "bra again;\n"
      "end:\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

/// Starts the copy of a box (a rectangle of a plane) whose first sample is (x, y). Samples outside the plane become 0.
__device__ __forceinline__ void copy_box(const void* to, const CUtensorMap& from, int x, int y,
                                         std::uint64_t& arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&from), "r"(x), "r"(y), "r"(shared_address(&arrived))
      : "memory");
}

#endif

}  // namespace c63::cuda
