#if defined(C63_SIMD_NEON)

#include "cpu/kernels_portable.h"

namespace c63::cpu {

const Kernels& neon_kernels() {
  static constexpr Kernels kKernels = portable::table(SimdLevel::neon);
  return kKernels;
}

}  // namespace c63::cpu

#endif
