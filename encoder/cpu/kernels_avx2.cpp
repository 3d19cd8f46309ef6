#if defined(C63_SIMD_X86)

// The tables of the kernels with AVX2. Kernels without a form of their own are the portable or scalar ones.

#include "cpu/decision_kernels_portable.h"
#include "cpu/extend_narrow_x86.h"
#include "cpu/kernels_portable.h"
#include "cpu/kernels_x86.h"

namespace c63::cpu {

const DecisionKernels& avx2_decision_kernels() {
  static const DecisionKernels kKernels{portable::transform_blocks<portable::AnyWidth>, portable::choose_levels,
                                        scalar_decision_kernels().write_levels,         portable::cost_candidate,
                                        portable::extend_beam,                          extend_narrow};
  return kKernels;
}

const Kernels& avx2_kernels() {
  static constexpr Kernels kKernels{SimdLevel::avx2,          avx2::sad,
                                    avx2::search,             portable::quarter_sums,
                                    avx2::transform_quantize, avx2::dequantize_reconstruct,
                                    portable::ssim_sums,      avx2_decision_kernels};
  return kKernels;
}

}  // namespace c63::cpu

#endif
