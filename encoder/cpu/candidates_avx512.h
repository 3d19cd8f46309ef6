#pragma once

// Code that the full searches with AVX-512 share, the exhaustive ones and those that skip candidates. Everything is
// local to the file that includes it. Otherwise the linker could merge it with code that is compiled for another
// instruction set, which the machine may not have.

#include <immintrin.h>

#include <cstdint>

#include "cpu/kernels.h"
#include "cpu/unroll.h"

namespace c63::cpu::avx512 {
namespace {

/// Makes the compiler compute a value here and keep it in a register. Otherwise compilers reorder the additions of a
/// loop into trees. These need more registers than there are, so some values would be moved to memory.
template <typename Vector>
[[gnu::always_inline]] inline void keep(Vector& value) {
  asm("" : "+v"(value));
}

[[gnu::always_inline]] inline __m512i four_samples(const std::uint8_t* p) {
  std::int32_t bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return _mm512_set1_epi32(bytes);
}

[[gnu::always_inline]] inline __m512i all(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }

[[gnu::always_inline]] inline int smallest(__m512i v) {
  const __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return _mm_cvtsi128_si32(_mm_minpos_epu16(quarter)) & 0xFFFF;
}

/// A mask of the lowest `count` of 32 bits.
constexpr std::uint32_t low_bits(int count) { return count >= 32 ? ~0U : (1U << count) - 1U; }

constexpr bool is_better(const BestCandidate& a, const BestCandidate& b) {
  return a.sad != b.sad ? a.sad < b.sad : a.y != b.y ? a.y < b.y : a.x < b.x;
}

// VDBPSADBW's control operands. Each 128-bit lane has sixteen samples of the reference. The operands choose the eight
// positions in it with which four samples of the block are compared. They begin at sample 0 for the left half of the
// block's row, and at sample 4 for the right half.
constexpr int kLeftHalf = 0x94;
constexpr int kRightHalf = 0xE9;

/// The samples of a block. Every 32-bit lane of left[y] has the four samples of the left half of row y. Every lane of
/// right[y] has those of the right half.
struct BlockRows {
  __m512i left[8];
  __m512i right[8];

  [[gnu::always_inline]] explicit BlockRows(const BlockSearch& block) {
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      left[k] = four_samples(block.current + k * block.current_pitch);
      right[k] = four_samples(block.current + k * block.current_pitch + 4);
    });
  }
};

}  // namespace
}  // namespace c63::cpu::avx512
