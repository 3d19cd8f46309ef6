#pragma once

#include "cpu/kernels.h"

// The AVX-512 forms of the kernels; kernels.h says what they do.
namespace c63::cpu::avx512 {

std::uint32_t sad(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch);
BestCandidate search_brute(const BlockSearch& search);
BestCandidate search_eliminating(const BlockSearch& search, const SumsView& sums, std::span<const Position> starts);
void sums_of_row(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, std::uint16_t* sums);

void code_block(const std::uint8_t* current, std::ptrdiff_t current_pitch, const std::uint8_t* prediction,
                std::ptrdiff_t prediction_pitch, const TransformTable& table, std::int16_t levels[64]);
void restore_block(const std::int16_t levels[64], const TransformTable& table, const std::uint8_t* prediction,
                   std::ptrdiff_t prediction_pitch, std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch);
void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums);

}  // namespace c63::cpu::avx512
