#if defined(C63_SIMD_NEON)

#include "cpu/decision_kernels_portable.h"
#include "cpu/kernels_portable.h"

namespace c63::cpu {

const Kernels& neon_kernels() {
  static constexpr Kernels kKernels = portable::table(SimdLevel::neon, portable::decision_table);
  return kKernels;
}

}  // namespace c63::cpu

#endif
