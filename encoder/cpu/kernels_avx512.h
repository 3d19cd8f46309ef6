#pragma once

#include "cpu/decision_kernels.h"
#include "cpu/kernels.h"

// Kernels with AVX-512. kernels.h and decision_kernels.h say what they do.

namespace c63::cpu::avx512 {

void transform_quantize(const std::uint8_t* current, std::ptrdiff_t current_pitch, std::span<const BlockPrediction> predictions,
                        const TransformTable& table, std::int16_t* levels);
void dequantize_reconstruct(const std::int16_t* levels, const TransformTable& table, std::span<const BlockPrediction> predictions,
                            std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch);
void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums);
void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices);

}  // namespace c63::cpu::avx512
