#pragma once

// extend_narrow() for AVX2 and AVX-512. Two candidates with four DC levels each are the eight lanes of a register. Each
// block needs the DC level and the vector that were chosen for the previous block. These stay in vector form, because
// moving them to scalar registers would delay the next block. Everything is local to the file that includes it.

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <span>

#include "codec/dct.h"
#include "cpu/decision_kernels.h"

namespace c63::cpu {
namespace {

/// Returns `first` in the lower four lanes and `second` in the upper four.
[[gnu::always_inline]] inline __m256i in_halves(int first, int second) {
  return _mm256_setr_m128i(_mm_set1_epi32(first), _mm_set1_epi32(second));
}

/// Returns the smallest of eight numbers, in all lanes.
[[gnu::always_inline]] inline __m256i smallest_of_eight(__m256i v) {
  v = _mm256_min_epi32(v, _mm256_permute2x128_si256(v, v, 1));
  v = _mm256_min_epi32(v, _mm256_shuffle_epi32(v, 0x4E));
  return _mm256_min_epi32(v, _mm256_shuffle_epi32(v, 0xB1));
}

/// The DC levels of a block's two candidates, and their costs. Each lane has one candidate with one of its DC levels.
struct NarrowLanes {
  __m256i levels;      ///< the DC levels
  __m256i costs;       ///< D + λR without vector, flags and DC, or kInvalidCost, as in BeamCandidate
  __m256i without_ac;  ///< in each lane all bits if all AC levels are zero, otherwise none

  [[gnu::always_inline]] NarrowLanes(const NarrowCandidates& block, const LevelTable& table) {
    const Quantizer& quantizer = table.quantizer;
    const TransformedBlock& a = *block.blocks[0];
    const TransformedBlock& b = *block.blocks[1];
    const auto all = [](int value) { return _mm256_set1_epi32(value); };
    const __m256i zero = _mm256_setzero_si256();
    const __m256i coefficient = in_halves(a.coefficients[0], b.coefficients[0]);
    const __m256i magnitude = _mm256_abs_epi32(coefficient);
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(_mm256_mullo_epi32(magnitude, all(quantizer.reciprocals[0])), all(1 << 19)), 20);
    const __m256i nearest = _mm256_min_epi32(rounded, all(kMaxDcMagnitude - 1));
    const __m256i added = _mm256_setr_epi32(0, INT32_MIN, -1, 1, 0, INT32_MIN, -1, 1);
    const __m256i unsigned_levels = _mm256_max_epi32(_mm256_add_epi32(nearest, added), zero);
    const __m256i restored =
        _mm256_srai_epi32(_mm256_add_epi32(_mm256_mullo_epi32(unsigned_levels, all(quantizer.steps[0])), all(2)), 2);
    const __m256i difference = _mm256_sub_epi32(magnitude, _mm256_slli_epi32(restored, 2 + kCoefficientFractionBits));
    const __m256i sign = _mm256_or_si256(coefficient, all(1));  // never zero, because sign_epi32 with 0 would give 0
    levels = _mm256_sign_epi32(unsigned_levels, sign);
    const __m256 scale = _mm256_set1_ps(kDctScale);
    const __m256 value = _mm256_cvtepi32_ps(_mm256_sign_epi32(restored, sign));
    const __m256i flat = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_mul_ps(value, scale), scale));
    const __m256i twice_sum = in_halves(2 * a.residual_sum, 2 * b.residual_sum);
    const __m256i flat_change = _mm256_mullo_epi32(flat, _mm256_sub_epi32(_mm256_slli_epi32(flat, 6), twice_sum));
    const __m256i squares = in_halves(a.residual_squares, b.residual_squares);
    const __m256i empty = _mm256_add_epi32(_mm256_slli_epi32(_mm256_add_epi32(squares, flat_change), kCostFractionBits),
                                           all(table.lambda * table.bits.end_of_block));
    const __m256i coded =
        _mm256_add_epi32(in_halves(block.ac[0], block.ac[1]), _mm256_mullo_epi32(difference, difference));
    const __m256i no_ac = in_halves(a.ac.kept == 0 ? -1 : 0, b.ac.kept == 0 ? -1 : 0);
    const __m256i cheaper = _mm256_blendv_epi8(_mm256_min_epi32(empty, coded), empty, no_ac);
    without_ac = _mm256_cmpeq_epi32(cheaper, empty);
    // The lanes of a candidate have the nearest level n, level 0, n - 1 and n + 1. Level 0 is only valid if n is above
    // 0, and n - 1 only if n is above 1. Otherwise an earlier lane has the same level.
    const __m256i not_itself = _mm256_setr_epi32(-1, 0, 1, -1, -1, 0, 1, -1);
    const __m256i valid =
        _mm256_and_si256(_mm256_cmpgt_epi32(nearest, not_itself), in_halves(-1, block.count == 2 ? -1 : 0));
    costs = _mm256_blendv_epi8(all(kInvalidCost), cheaper, valid);
  }
};

void extend_narrow(Beam& beam, std::span<const NarrowCandidates> blocks, const LevelTable& table, BlockChoice* choices) {
  constexpr int kLaneBits = 3;
  static_assert(2 * kDcLevels == 1 << kLaneBits);
  static_assert(kUnreachable <= Cost{1} << (31 - kLaneBits));
  if (blocks.empty()) return;
  const auto all = [](int value) { return _mm256_set1_epi32(value); };
  const __m256i dc_table = _mm256_broadcastsi128_si256(
      _mm_load_si128(reinterpret_cast<const __m128i*>(kDcBitsOfSizes[table.plane == 0 ? 0 : 1].data())));
  const __m256i lane_numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i reused_cost = all(table.lambda * kVectorFlagBits << kLaneBits);
  // The first block of a row has no DC difference that is counted, so the price of its DC bits is 0.
  __m256i price = all(beam.started ? table.lambda << kLaneBits : 0);
  BeamState& state = beam.states[0];
  __m256i dc = all(state.dc);
  alignas(32) std::array<std::int32_t, 8> left[2];
  for (std::size_t row = 0; row < 2; ++row) left[row].fill(state.left[row]);

  for (const NarrowCandidates& block : blocks) {
    const NarrowLanes lanes(block, table);
    const __m256i least = smallest_of_eight(lanes.costs);
    const __m256i relative = _mm256_min_epi32(_mm256_sub_epi32(lanes.costs, least), all(kMaxBeamCost));
    const __m256i invalid = _mm256_cmpeq_epi32(lanes.costs, all(kInvalidCost));
    const __m256i own = _mm256_or_si256(
        _mm256_slli_epi32(_mm256_blendv_epi8(relative, all(kUnreachable), invalid), kLaneBits), lane_numbers);
    const __m256i vectors = in_halves(block.vectors[0], block.vectors[1]);
    const __m256i vector_cost = in_halves(table.lambda * block.vector_bits[0] << kLaneBits, table.lambda * block.vector_bits[1] << kLaneBits);

    auto* const left_vectors = reinterpret_cast<__m256i*>(left[block.row].data());
    const __m256i reused = _mm256_andnot_si256(_mm256_cmpeq_epi32(vectors, all(kNoVector)),
                                               _mm256_cmpeq_epi32(vectors, _mm256_load_si256(left_vectors)));
    const __m256i known = _mm256_add_epi32(own, _mm256_blendv_epi8(vector_cost, reused_cost, reused));
    // Computes the size of each DC difference d, which is the number of bits of |d|. This is the position of the
    // highest bit of 2|d| + 1. That position is the exponent of the number 2|d| + 1 as a float.
    const __m256i distance = _mm256_abs_epi32(_mm256_sub_epi32(lanes.levels, dc));
    const __m256i odd = _mm256_add_epi32(_mm256_add_epi32(distance, distance), all(1));
    const __m256i size = _mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(odd)), 23), all(127));
    const __m256i dc_bits_of_lanes = _mm256_and_si256(_mm256_shuffle_epi8(dc_table, size), all(0xFF));
    const __m256i keys = _mm256_add_epi32(known, _mm256_mullo_epi32(dc_bits_of_lanes, price));
    const __m256i best = smallest_of_eight(keys);

    const __m256i lane = _mm256_and_si256(best, all(7));
    dc = _mm256_permutevar8x32_epi32(lanes.levels, lane);
    _mm256_store_si256(left_vectors, _mm256_permutevar8x32_epi32(vectors, lane));
    price = all(table.lambda << kLaneBits);
    const auto key = static_cast<std::uint32_t>(_mm256_cvtsi256_si32(best));
    const auto lane_number = static_cast<std::uint8_t>(key % (1U << kLaneBits));
    const auto without_ac = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes.without_ac)));
    beam.base += _mm256_cvtsi256_si32(least) + static_cast<Cost>(key >> kLaneBits);
    *choices++ = {lane_number, (without_ac >> lane_number & 1) != 0, static_cast<std::int16_t>(_mm256_cvtsi256_si32(dc))};
  }
  state.cost = 0;
  state.dc = _mm256_cvtsi256_si32(dc);
  state.left = {left[0][0], left[1][0]};
  beam.started = true;
}

}  // namespace
}  // namespace c63::cpu
