#pragma once

#include "cpu/kernels.h"

namespace c63::cpu::avx2 {

void code_blocks(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                 std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels);
void restore_blocks(const std::int16_t* levels, const TransformTable& table,
                    std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                    std::ptrdiff_t reconstruction_pitch);

}  // namespace c63::cpu::avx2
