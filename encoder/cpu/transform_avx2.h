#pragma once

#include "cpu/kernels.h"

namespace c63::cpu::avx2 {

void transform_quantize(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                 std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels);
void dequantize_reconstruct(const std::int16_t* levels, const TransformTable& table,
                    std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                    std::ptrdiff_t reconstruction_pitch);

}  // namespace c63::cpu::avx2
