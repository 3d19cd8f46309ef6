#if defined(C63_SIMD_X86)

// Motion search with AVX-512. A register holds a row of 32 candidates, or two rows of 16.

#include <algorithm>
#include <bit>

#include "cpu/columns_avx512.h"
#include "cpu/kernels_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// For each of the 32 positions in a register of candidates, the smallest SAD and the first row that has it.
struct ColumnMinima {
  __m512i sads = all(0xFFFF);
  __m512i rows = all(0);

  void take(__m512i sad, int row) {
    const __mmask32 less = _mm512_cmplt_epu16_mask(sad, sads);
    sads = _mm512_min_epu16(sad, sads);
    rows = _mm512_mask_mov_epi16(rows, less, all(row));
  }

  template <typename Shape>
  [[nodiscard]] BestCandidate best(const Shape& shape, int left, int top, int columns) const {
    const __mmask32 valid = shape.valid(columns);
    const __m512i ones = all(0xFFFF);
    const int sad = smallest(_mm512_mask_mov_epi16(ones, valid, sads));
    const __mmask32 equal = _mm512_mask_cmpeq_epu16_mask(valid, sads, all(sad));
    const __m512i true_rows = shape.true_rows(rows);
    const int row = smallest(_mm512_mask_mov_epi16(ones, equal, true_rows));
    const __mmask32 first = _mm512_mask_cmpeq_epu16_mask(equal, true_rows, all(row));
    return {left + std::countr_zero(static_cast<std::uint32_t>(first)) % Shape::kColumns, top + row,
            static_cast<std::uint32_t>(sad)};
  }
};

/// Searches columns [left, left + columns) of a window, but at most Shape::kColumns. A register of candidates, with the
/// given shape, moves down `rows` rows.
template <typename Shape>
[[gnu::noinline]] BestCandidate search_columns(const BlockSearch& search, Shape shape, int left, int columns,
                                               int rows) {
  const BlockRows block(search);
  const std::uint8_t* reference = &search.reference.at(left, search.window.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  ColumnMinima minima;
  search_rows(shape, block, reference, pitch, rows, minima);
  return minima.best(shape, left, search.window.top, columns);
}

BestCandidate search_columns(const BlockSearch& search, int left, int columns) {
  const int rows = search.window.bottom - search.window.top;
  if (columns <= TwoRows::kColumns && rows % 2 == 0) {
    return search_columns(search, TwoRows{rows / 2, search.reference.pitch}, left, columns, rows / 2);
  }
  return search_columns(search, OneRow{}, left, columns, rows);
}

/// Searches a window that is wider than a register. Not inlined, because most windows do not need it.
[[gnu::noinline]] BestCandidate search_wide(const BlockSearch& search) {
  const SearchWindow& window = search.window;
  BestCandidate best{.sad = UINT32_MAX};
  for (int left = window.left; left < window.right; left += OneRow::kColumns) {
    const BestCandidate found = search_columns(search, left, window.right - left);
    if (is_better(found, best)) best = found;
  }
  return best;
}

}  // namespace

BestCandidate search_brute(const BlockSearch& search) {
  const int columns = search.window.right - search.window.left;
  return columns <= OneRow::kColumns ? search_columns(search, search.window.left, columns) : search_wide(search);
}

namespace {

/// The samples of a block, two rows in each register.
struct PackedBlock {
  __m128i rows[4];

  static __m128i two_rows(const std::uint8_t* p, std::ptrdiff_t pitch) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(p + pitch)));
  }
  PackedBlock(const std::uint8_t* p, std::ptrdiff_t pitch) {
    for (int k = 0; k < 4; ++k) rows[k] = two_rows(p + 2 * k * pitch, pitch);
  }
  [[nodiscard]] std::uint32_t sad(const std::uint8_t* p, std::ptrdiff_t pitch) const {
    const __m128i a = _mm_sad_epu8(rows[0], two_rows(p, pitch));
    const __m128i b = _mm_sad_epu8(rows[1], two_rows(p + 2 * pitch, pitch));
    const __m128i c = _mm_sad_epu8(rows[2], two_rows(p + 4 * pitch, pitch));
    const __m128i d = _mm_sad_epu8(rows[3], two_rows(p + 6 * pitch, pitch));
    const __m128i sum = _mm_add_epi32(_mm_add_epi32(a, b), _mm_add_epi32(c, d));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum))));
  }
};

}  // namespace

std::uint32_t sad(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch) {
  return PackedBlock(a, a_pitch).sad(b, b_pitch);
}

void quarter_sums(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* sums,
                  std::ptrdiff_t sums_pitch) {
  const __m512i zero = _mm512_setzero_si512();
  for (int x = 0; x < count; x += OneRow::kColumns) {
    const __mmask32 valid = low_bits(count - x);
    const std::uint8_t* row = samples + x;
    // The sum of four samples is their SAD against zeros. So one instruction gives the sums at 32 neighbouring
    // positions.
    const auto next_row = [&]() __attribute__((always_inline)) {
      const __m512i sum = _mm512_dbsad_epu8(zero, OneRow::load(row), kLeftHalf);
      row += pitch;
      return sum;
    };
    const __m512i first = next_row();
    __m512i second = next_row();
    __m512i third = next_row();
    __m512i first_two = _mm512_add_epi16(first, second);
    std::uint8_t* to = sums + x;
    for (int y = 0; y < rows; ++y, to += sums_pitch) {
      const __m512i fourth = next_row();
      const __m512i sum = _mm512_add_epi16(first_two, _mm512_add_epi16(third, fourth));
      _mm256_mask_storeu_epi8(to, valid, _mm512_cvtepi16_epi8(_mm512_srli_epi16(sum, 2)));
      first_two = _mm512_add_epi16(second, third);
      second = third;
      third = fourth;
    }
  }
}

}  // namespace c63::cpu::avx512

#endif
