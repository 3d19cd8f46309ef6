#pragma once

// Code of the exhaustive search with AVX-512: a register of candidates moves down a window, row by row. Everything is
// local to the file that includes it, as in candidates_avx512.h.
//
// In each lane of 16 bytes, VDBPSADBW compares four samples of the block with eight neighbouring positions. So a
// register holds 32 candidates. A row of the block takes two instructions, one for its left half and one for its right
// half.

#include "cpu/candidates_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// A register of candidates: 32 neighbours in one row.
struct OneRow {
  static constexpr int kColumns = 32;

  /// Loads the samples for the candidates. Lane i gets 16 bytes from byte 8·i on, which is all that its eight
  /// candidates need.
  static __m512i load(const std::uint8_t* p) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 1, 2, 2, 3, 3, 4), _mm512_loadu_si512(p));
  }
  static __mmask32 valid(int columns) { return low_bits(columns); }
  static __m512i true_rows(__m512i rows) { return rows; }
};

/// A register of candidates: 16 neighbours in one row, and the 16 candidates `rows` rows below them.
struct TwoRows {
  static constexpr int kColumns = 16;
  int rows;
  std::ptrdiff_t pitch;

  [[nodiscard]] __m512i load(const std::uint8_t* p) const {
    const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(half(p)), half(p + rows * pitch), 1);
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 1, 2, 4, 5, 5, 6), both);
  }
  static __mmask32 valid(int columns) { return low_bits(columns) * 0x10001U; }
  [[nodiscard]] __m512i true_rows(__m512i numbers) const {
    return _mm512_mask_add_epi16(numbers, 0xFFFF0000U, numbers, all(rows));
  }

 private:
  static __m256i half(const std::uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
};

enum class Part { first, middle, last };

/// Processes eight rows of the reference and advances `reference` and `row`. Each row of samples belongs to eight rows
/// of candidates. So eight sums are in progress at any time; sum i belongs to the candidate row whose number is i
/// modulo 8. Part::first completes only one row of candidates. Part::last reads only seven rows of the reference and
/// begins no row of candidates.
template <Part kPart, typename Shape, typename Minima>
[[gnu::always_inline]] inline void eight_rows(const Shape& shape, const BlockRows& block, const std::uint8_t*& reference,
                                              std::ptrdiff_t pitch, int& row, __m512i (&sums)[8],
                                              Minima& minima) {
  unroll<kPart == Part::last ? 7 : 8>([&](auto r) __attribute__((always_inline)) {
    const __m512i samples = shape.load(reference);
    reference += pitch;
    asm("" : "+r"(reference));  // makes the compiler keep one address, because there are not enough registers for eight
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      if constexpr (kPart == Part::middle || (kPart == Part::first) == (k <= r)) {
        __m512i& sum = sums[(r - k) & 7];
        const __m512i left = _mm512_dbsad_epu8(block.left[k], samples, kLeftHalf);
        const __m512i right = _mm512_dbsad_epu8(block.right[k], samples, kRightHalf);
        if constexpr (k == 0) {
          sum = _mm512_add_epi16(left, right);
        } else {
          sum = _mm512_add_epi16(_mm512_add_epi16(sum, left), right);
        }
        keep(sum);
      }
    });
    if constexpr (kPart != Part::first || r == 7) {
      minima.take(sums[(r - 7) & 7], row);
      ++row;
      asm("" : "+r"(row));
    }
  });
}

/// Searches 8·groups rows of candidates, beginning with row `row`.
template <typename Shape, typename Minima>
[[gnu::always_inline]] inline void search_groups(const Shape& shape, const BlockRows& block, const std::uint8_t* reference,
                                                 std::ptrdiff_t pitch, int row, int groups, Minima& minima) {
  __m512i sums[8];
  reference += row * pitch;
  eight_rows<Part::first>(shape, block, reference, pitch, row, sums, minima);
  for (int group = 1; group < groups; ++group) {
    eight_rows<Part::middle>(shape, block, reference, pitch, row, sums, minima);
  }
  eight_rows<Part::last>(shape, block, reference, pitch, row, sums, minima);
}

/// Returns the SADs of one register of candidates, the first of which is at `reference`.
template <typename Shape>
[[gnu::always_inline]] inline __m512i sads_of_row(const Shape& shape, const BlockRows& block, const std::uint8_t* reference,
                                                             std::ptrdiff_t pitch) {
  __m512i left = _mm512_setzero_si512();
  __m512i right = _mm512_setzero_si512();
  unroll<8>([&](auto k) __attribute__((always_inline)) {
    const __m512i samples = shape.load(reference + k * pitch);
    left = _mm512_add_epi16(left, _mm512_dbsad_epu8(block.left[k], samples, kLeftHalf));
    right = _mm512_add_epi16(right, _mm512_dbsad_epu8(block.right[k], samples, kRightHalf));
    keep(left);
    keep(right);
  });
  return _mm512_add_epi16(left, right);
}

/// Calls minima.take() with the SADs of each of `rows` rows of candidates, and the row's number.
template <typename Shape, typename Minima>
[[gnu::always_inline]] inline void search_rows(const Shape& shape, const BlockRows& block, const std::uint8_t* reference,
                                               std::ptrdiff_t pitch, int rows, Minima& minima) {
  if (rows >= 8) search_groups(shape, block, reference, pitch, 0, rows / 8, minima);
  for (int row = rows & ~7; row < rows; ++row) {
    minima.take(sads_of_row(shape, block, reference + row * pitch, pitch), row);
  }
}

}  // namespace
}  // namespace c63::cpu::avx512
