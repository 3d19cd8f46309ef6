#pragma once

// Parts of both full searches with AVX-512. Everything is local to the file that includes it. Otherwise the linker
// could give another file code that its machine cannot run.

#include <immintrin.h>

#include <cstdint>

#include "cpu/kernels.h"
#include "cpu/unroll.h"

namespace c63::cpu::avx512 {
namespace {

/// Keeps a value in its register. Otherwise compilers collect the additions of a whole loop into trees, and spill.
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

// VDBPSADBW's control: the four samples of a lane that each quarter slides over.
constexpr int kLeftHalf = 0x94;
constexpr int kRightHalf = 0xE9;

/// The samples of a block, four to a register.
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
