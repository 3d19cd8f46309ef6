#if defined(C63_SIMD_X86)

#include "cpu/decision_kernels_portable.h"
#include "cpu/kernels_portable.h"

namespace c63::cpu {

const Kernels& sse4_kernels() {
  static constexpr Kernels kKernels = portable::table(SimdLevel::sse4, portable::decision_table);
  return kKernels;
}

}  // namespace c63::cpu

#endif
