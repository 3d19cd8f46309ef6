#include "cpu/kernels.h"

#include <string>

#include "c63/error.h"

namespace c63 {
namespace {

struct Level {
  SimdLevel level;
  bool (*available)();
  const cpu::Kernels& (*kernels)();
};

/// The tables of this build, in order of speed, slowest first.
constexpr Level kLevels[] = {
    {SimdLevel::scalar, [] { return true; }, cpu::scalar_kernels},
#if defined(C63_SIMD_X86)
    // __builtin_cpu_supports also asks whether the operating system saves the registers of the instruction set. If it
    // does not, the instruction set cannot be used.
    {SimdLevel::sse4,
     [] {
       return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("aes") != 0 &&
              __builtin_cpu_supports("pclmul") != 0;
     },
     cpu::sse4_kernels},
    {SimdLevel::avx2,
     [] {
       return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
              __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
     },
     cpu::avx2_kernels},
    {SimdLevel::avx512,
     [] {
       return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
              __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
              __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("bmi2") != 0 &&
              __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("pclmul") != 0;
     },
     cpu::avx512_kernels},
#elif defined(C63_SIMD_NEON)
    {SimdLevel::neon, [] { return true; }, cpu::neon_kernels},  // every aarch64 CPU has it
#elif defined(C63_SIMD_WASM)
    {SimdLevel::simd128, [] { return true; }, cpu::simd128_kernels},  // the module does not load without it
#endif
};

}  // namespace

std::vector<SimdLevel> available_simd_levels() {
  std::vector<SimdLevel> levels;
  for (const Level& entry : kLevels) {
    if (entry.available()) levels.push_back(entry.level);
  }
  return levels;
}

namespace cpu {

TransformTable::TransformTable(const QuantizationTable& quantization, int plane_index) : steps(quantization), plane(plane_index) {
  for (std::size_t k = 0; k < 64; ++k) {
    const std::size_t position = kZigZag[k];
    divisors[position] = static_cast<float>(4 * steps[k]);
    reciprocals[position] = 1.0F / divisors[position];
    reciprocal_errors[position] = static_cast<float>(1.0 / divisors[position] - reciprocals[position]);
    const std::size_t transposed = position % 8 * 8 + position / 8;
    column_steps[transposed] = steps[k];
    column_pair_steps[transposed] = position % 2 == 0 ? steps[k] : steps[k] << 16;
    limits[k] = static_cast<std::int16_t>(k == 0 ? kMaxDcMagnitude : max_ac_magnitude(plane_index));
  }
}

const SearchCosts& free_vectors() {
  static const SearchCosts kFree;
  return kFree;
}

const Kernels& kernels(std::optional<SimdLevel> level) {
  const Kernels* best = nullptr;
  std::string names;
  for (const Level& entry : kLevels) {
    if (!entry.available()) continue;
    names += (names.empty() ? "" : ", ") + std::string(name(entry.level));
    if (!level || *level == entry.level) best = &entry.kernels();
  }
  if (best == nullptr) {
    throw Error(ErrorKind::usage, "C63-SIMD",
                "this machine or build has no " + std::string(name(*level)) + " kernels; it has " + names);
  }
  return *best;
}

}  // namespace cpu
}  // namespace c63
