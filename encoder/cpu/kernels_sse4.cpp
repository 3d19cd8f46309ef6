#if defined(C63_SIMD_X86)

#include "cpu/kernels_portable.h"

namespace c63::cpu {

const Kernels& sse4_kernels() {
  static constexpr Kernels kKernels{SimdLevel::sse4,
                                    portable::sad,
                                    portable::search_brute,
                                    portable::search_eliminating,
                                    portable::sums_of_row,
                                    code_each_block<portable::code_block>,
                                    restore_each_block<portable::restore_block>,
                                    portable::ssim_sums};
  return kKernels;
}

}  // namespace c63::cpu

#endif
