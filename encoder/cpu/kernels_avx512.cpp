#if defined(C63_SIMD_X86)

#include "cpu/kernels_avx512.h"

namespace c63::cpu {

const Kernels& avx512_kernels() {
  static constexpr Kernels kKernels{SimdLevel::avx512,          avx512::sad,         avx512::search_brute,
                                    avx512::search_eliminating, avx512::quarter_sums, avx512::transform_quantize,
                                    avx512::dequantize_reconstruct,     avx512::ssim_sums, avx512_decision_kernels};
  return kKernels;
}

}  // namespace c63::cpu

#endif
