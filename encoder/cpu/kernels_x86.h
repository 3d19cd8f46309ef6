#pragma once

#include "cpu/decision_kernels.h"
#include "cpu/kernels.h"

// The forms of the kernels with AVX2 and AVX-512. kernels.h and decision_kernels.h say what they do.

namespace c63::cpu {

#define C63_X86_KERNELS                                                                                                 \
  std::uint32_t sad(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch);      \
  void search(std::span<const BlockSearch> blocks, const QuarterSumsView& sums, const SearchCosts* costs,              \
              std::size_t count);                                                                                       \
  void transform_quantize(const std::uint8_t* current, std::ptrdiff_t current_pitch,                                    \
                          std::span<const BlockPrediction> predictions, const TransformTable& table,                    \
                          std::int16_t* levels);                                                                        \
  void dequantize_reconstruct(const std::int16_t* levels, const TransformTable& table,                                  \
                              std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,               \
                              std::ptrdiff_t reconstruction_pitch);

namespace avx2 {
C63_X86_KERNELS
}  // namespace avx2

namespace avx512 {
C63_X86_KERNELS
void quarter_sums(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* sums,
                  std::ptrdiff_t sums_pitch);
void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums);
void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices);
void write_levels(const TransformedBlock& block, const LevelTable& table, const AcChoice& choice, std::int16_t dc,
                  std::int16_t* levels);
}  // namespace avx512

#undef C63_X86_KERNELS

}  // namespace c63::cpu
