#pragma once

#include "cpu/kernels.h"

namespace c63::cpu::avx2 {

void code_block(const std::uint8_t* current, std::ptrdiff_t current_pitch, const std::uint8_t* prediction,
                std::ptrdiff_t prediction_pitch, const TransformTable& table, std::int16_t levels[64]);
void restore_block(const std::int16_t levels[64], const TransformTable& table, const std::uint8_t* prediction,
                   std::ptrdiff_t prediction_pitch, std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch);

}  // namespace c63::cpu::avx2
