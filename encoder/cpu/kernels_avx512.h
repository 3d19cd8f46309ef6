#pragma once

#include "cpu/kernels.h"

// The AVX-512 forms of the kernels. kernels.h says what they do.
namespace c63::cpu::avx512 {

std::uint32_t sad(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch);
BestCandidate search_brute(const BlockSearch& search);
void search_eliminating(std::span<const StartedSearch> blocks, const QuarterSumsView& sums, BestCandidate* best);
void quarter_sums(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* sums,
                  std::ptrdiff_t sums_pitch);

void transform_quantize(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                 std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels);
void dequantize_reconstruct(const std::int16_t* levels, const TransformTable& table,
                    std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                    std::ptrdiff_t reconstruction_pitch);
void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums);

}  // namespace c63::cpu::avx512
