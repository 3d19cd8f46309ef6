#pragma once

#include "cpu/decision_kernels.h"

// The AVX-512 forms of the decision kernels. decision_kernels.h says what they do.
namespace c63::cpu::avx512 {

void search_best(std::span<const CostedSearch> blocks, const QuarterSumsView& sums, std::size_t count);
void transform_blocks(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks);
void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices);
void write_levels(const TransformedBlock& block, const LevelTable& table, const AcChoice& choice, std::int16_t dc,
                  std::int16_t* levels);

}  // namespace c63::cpu::avx512
