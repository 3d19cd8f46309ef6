// The tables of the instruction sets that have no forms of their own. A build has one of them: SSE4 on x86, NEON on ARM,
// SIMD128 in WebAssembly.

#if defined(C63_SIMD_X86) || defined(C63_SIMD_NEON) || defined(C63_SIMD_WASM)

#include "cpu/decision_kernels_portable.h"
#include "cpu/kernels_portable.h"

namespace c63::cpu {

#if defined(C63_SIMD_X86)
const Kernels& sse4_kernels() {
  static constexpr Kernels kKernels = portable::table(SimdLevel::sse4, portable::decision_table);
  return kKernels;
}
#elif defined(C63_SIMD_NEON)
const Kernels& neon_kernels() {
  static constexpr Kernels kKernels = portable::table(SimdLevel::neon, portable::decision_table);
  return kKernels;
}
#else
const Kernels& simd128_kernels() {
  static constexpr Kernels kKernels = portable::table(SimdLevel::simd128, portable::decision_table);
  return kKernels;
}
#endif

}  // namespace c63::cpu

#endif
