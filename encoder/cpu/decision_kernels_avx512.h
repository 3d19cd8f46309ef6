#pragma once

#include "cpu/decision_kernels.h"

// The AVX-512 forms of the decision kernels; decision_kernels.h says what they do.
namespace c63::cpu::avx512 {

void search_best(const CostedSearch& search, const QuarterSumsView& sums, std::span<const Position> starts,
                 std::span<std::uint32_t> keys);
void transform_blocks(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks);

}  // namespace c63::cpu::avx512
