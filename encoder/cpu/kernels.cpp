#include "cpu/kernels.h"

#include <string>

#include "c63/error.h"

namespace c63 {

std::vector<SimdLevel> available_simd_levels() { return {SimdLevel::scalar}; }

namespace cpu {

const Kernels& kernels(std::optional<SimdLevel> level) {
  if (!level || *level == SimdLevel::scalar) return scalar_kernels();
  throw Error(ErrorKind::usage, "C63-SIMD", "this machine or build has no " + std::string(name(*level)) + " kernels");
}

}  // namespace cpu
}  // namespace c63
