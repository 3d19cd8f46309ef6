#if defined(C63_SIMD_X86)

// Motion search with AVX-512: a whole row of candidates per step.
//
// VDBPSADBW gives, per 16-byte lane, the SADs of four samples of the block at eight neighbouring positions, so a
// register holds 32 candidates and a row of the block takes two instructions: one for its left half and one for its right.

#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "cpu/kernels_avx512.h"
#include "cpu/unroll.h"

namespace c63::cpu::avx512 {
namespace {

/// Keeps a value in its register here: compilers would gather the additions of a whole loop into trees, and spill.
template <typename Vector>
[[gnu::always_inline]] inline void keep(Vector& value) {
  asm("" : "+v"(value));
}

__m512i four_samples(const std::uint8_t* p) {
  std::int32_t bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return _mm512_set1_epi32(bytes);
}

__m512i all(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }

int smallest(__m512i v) {
  const __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return _mm_cvtsi128_si32(_mm_minpos_epu16(quarter)) & 0xFFFF;
}

/// The lowest `count` of 32 bits.
constexpr std::uint32_t low_bits(int count) { return count >= 32 ? ~0U : (1U << count) - 1U; }

/// A register of candidates: 32 neighbours of one row.
struct OneRow {
  static constexpr int kColumns = 32;

  /// What they cover, sixteen bytes from every eighth one: so each lane sees all that its eight candidates need.
  static __m512i load(const std::uint8_t* p) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 1, 2, 2, 3, 3, 4), _mm512_loadu_si512(p));
  }
  static __mmask32 valid(int columns) { return low_bits(columns); }
  static __m512i true_rows(__m512i rows) { return rows; }
};

/// A register of candidates: 16 neighbours of one row, and those `rows` further down.
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

constexpr bool is_better(const BestCandidate& a, const BestCandidate& b) {
  return a.sad != b.sad ? a.sad < b.sad : a.y != b.y ? a.y < b.y : a.x < b.x;
}

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

/// The smallest SAD of each place in a register of candidates, and the first row that has it.
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

// VDBPSADBW's control: which four samples of a lane each quarter slides over.
constexpr int kLeftHalf = 0x94;
constexpr int kRightHalf = 0xE9;

enum class Part { first, middle, last };

/// Eight rows of the reference; `reference` and `row` move on over them. Each belongs to eight rows of candidates, so eight
/// sums are under way at any time: sum i is that of the candidate row whose number is i modulo 8. In the first eight rows no candidate ends but the first
/// one, and in the last eight none begins.
template <Part kPart, typename Shape>
[[gnu::always_inline]] inline void eight_rows(const Shape& shape, const BlockRows& block, const std::uint8_t*& reference,
                                              std::ptrdiff_t pitch, int& row, __m512i (&sums)[8],
                                              ColumnMinima& minima) {
  unroll<kPart == Part::last ? 7 : 8>([&](auto r) __attribute__((always_inline)) {
    const __m512i samples = shape.load(reference);
    reference += pitch;
    asm("" : "+r"(reference));  // one address at a time, or there are not enough registers for all
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

/// Searches 8·groups rows of candidates from row `row` on.
template <typename Shape>
[[gnu::always_inline]] inline void search_groups(const Shape& shape, const BlockRows& block, const std::uint8_t* reference,
                                                 std::ptrdiff_t pitch, int row, int groups, ColumnMinima& minima) {
  __m512i sums[8];
  reference += row * pitch;
  eight_rows<Part::first>(shape, block, reference, pitch, row, sums, minima);
  for (int group = 1; group < groups; ++group) {
    eight_rows<Part::middle>(shape, block, reference, pitch, row, sums, minima);
  }
  eight_rows<Part::last>(shape, block, reference, pitch, row, sums, minima);
}

/// The SADs of one row of candidates.
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

/// Searches the columns [left, left + columns) of a window: `rows` registers of candidates.
template <typename Shape>
[[gnu::noinline]] BestCandidate search_columns(const BlockSearch& search, const Shape& shape, int left, int columns,
                                               int rows) {
  const BlockRows block(search);
  const std::uint8_t* reference = &search.reference.at(left, search.window.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  ColumnMinima minima;
  if (rows >= 8) search_groups(shape, block, reference, pitch, 0, rows / 8, minima);
  for (int row = rows & ~7; row < rows; ++row) {
    minima.take(sads_of_row(shape, block, reference + row * pitch, pitch), row);
  }
  return minima.best(shape, left, search.window.top, columns);
}

BestCandidate search_columns(const BlockSearch& search, int left, int columns) {
  const int rows = search.window.bottom - search.window.top;
  if (columns <= TwoRows::kColumns && rows % 2 == 0) {
    return search_columns(search, TwoRows{rows / 2, search.reference.pitch}, left, columns, rows / 2);
  }
  return search_columns(search, OneRow{}, left, columns, rows);
}

}  // namespace

BestCandidate search_brute(const BlockSearch& search) {
  const SearchWindow& window = search.window;
  BestCandidate best{.sad = UINT32_MAX};
  for (int left = window.left; left < window.right; left += OneRow::kColumns) {
    const BestCandidate found = search_columns(search, left, window.right - left);
    if (is_better(found, best)) best = found;
  }
  return best;
}

namespace {

/// The samples of a block, two rows to a register.
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

/// Sum of 4x4 samples.
int sum_of_4x4(const std::uint8_t* p, std::ptrdiff_t pitch) {
  const auto row = [&](int y) {
    std::int32_t bytes;
    __builtin_memcpy(&bytes, p + y * pitch, sizeof bytes);
    return bytes;
  };
  const __m128i samples = _mm_setr_epi32(row(0), row(1), row(2), row(3));
  const __m128i sum = _mm_sad_epu8(samples, _mm_setzero_si128());
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum)));
}

/// The differences of a row of sums to two of the block's own.
struct SumRow {
  __m512i left;
  __m512i right;
  [[gnu::always_inline]] explicit SumRow(const std::uint16_t* p)
      : left(_mm512_loadu_si512(p)), right(_mm512_loadu_si512(p + 4)) {}
  [[gnu::always_inline]] __m512i difference(__m512i a, __m512i b) const {
    return _mm512_add_epi16(_mm512_abs_epi16(_mm512_sub_epi16(left, a)), _mm512_abs_epi16(_mm512_sub_epi16(right, b)));
  }
};

BestCandidate eliminate_columns(const BlockSearch& search, const SumsView& sums, BestCandidate best, int left,
                                int columns) {
  const SearchWindow& window = search.window;
  const int rows = window.bottom - window.top;
  const std::ptrdiff_t pitch = search.reference.pitch;
  const __mmask32 valid = low_bits(columns);
  const auto quarter = [&](int x, int y) {
    return _mm512_set1_epi16(static_cast<short>(sum_of_4x4(search.current + y * search.current_pitch + x,
                                                           search.current_pitch)));
  };
  const __m512i top_left = quarter(0, 0);
  const __m512i top_right = quarter(4, 0);
  const __m512i bottom_left = quarter(0, 4);
  const __m512i bottom_right = quarter(4, 4);

  alignas(64) std::uint32_t survivors[256];  // of each row of candidates, a bit each
  const std::uint16_t* sums_at = sums.at(left, window.top);
  const auto pass = [&](int first, int end, std::uint32_t limit) __attribute__((always_inline)) {
    const __m512i limits = _mm512_set1_epi16(static_cast<short>(limit));
    const auto test = [&](const SumRow& top, const SumRow& bottom, int row) __attribute__((always_inline)) {
      const __m512i bound =
          _mm512_add_epi16(top.difference(top_left, top_right), bottom.difference(bottom_left, bottom_right));
      survivors[row] = _mm512_mask_cmplt_epu16_mask(valid, bound, limits);
    };
    int row = first;
    const std::uint16_t* p = sums_at + row * sums.pitch;
    if (end - row >= 4) {  // what is below of one row is above of the fourth from it
      SumRow above[4] = {SumRow(p), SumRow(p + sums.pitch), SumRow(p + 2 * sums.pitch), SumRow(p + 3 * sums.pitch)};
      for (; row + 4 <= end; row += 4) {
        p += 4 * sums.pitch;
        unroll<4>([&](auto i) __attribute__((always_inline)) {
          const SumRow below(p + i * sums.pitch);
          test(above[i], below, row + i);
          above[i] = below;
        });
      }
    }
    for (; row < end; ++row, p += sums.pitch) test(SumRow(p), SumRow(p + 4 * sums.pitch), row);
  };
  // Before the best candidate known, one that is as good would win.
  const int known = std::clamp(best.y - window.top + 1, 0, rows);
  pass(0, known, best.sad + 1);
  pass(known, rows, best.sad);

  // Survivors stand close together, and a row of candidates costs little more than three of them one by one: so whole rows
  // are searched where any of theirs survives. No branch depends on which those are.
  std::uint32_t searched[256 + 16];
  int count = 0;
  std::fill(survivors + rows, survivors + (rows + 15) / 16 * 16, 0U);
  __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int row = 0; row < rows; row += 16) {
    const __m512i bits = _mm512_load_si512(survivors + row);
    const __mmask16 any = _mm512_test_epi32_mask(bits, bits);
    _mm512_storeu_si512(searched + count, _mm512_maskz_compress_epi32(any, numbers));
    numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
    count += std::popcount(static_cast<unsigned>(any));
  }
  if (count == 0) return best;
  if (6 * count > 5 * rows) {  // next to nothing is ruled out, and rows that share what they load are cheaper
    const BestCandidate found = search_columns(search, left, columns);
    return is_better(found, best) ? found : best;
  }
  const std::uint8_t* reference = &search.reference.at(left, window.top);
  const BlockRows rows_of_block(search);
  ColumnMinima minima;
  for (int i = 0; i < count; ++i) {
    const int row = static_cast<int>(searched[i]);
    minima.take(sads_of_row(OneRow{}, rows_of_block, reference + row * pitch, pitch), row);
  }
  const BestCandidate found = minima.best(OneRow{}, left, window.top, columns);
  return is_better(found, best) ? found : best;
}

}  // namespace

std::uint32_t sad(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch) {
  return PackedBlock(a, a_pitch).sad(b, b_pitch);
}

BestCandidate search_eliminating(const BlockSearch& search, const SumsView& sums, std::span<const Position> starts) {
  const PackedBlock block(search.current, search.current_pitch);
  BestCandidate best{.sad = UINT32_MAX};
  for (const Position start : starts) {
    const BestCandidate found{start.x, start.y, block.sad(&search.reference.at(start.x, start.y), search.reference.pitch)};
    best = found.sad < best.sad ? found : best;
  }
  for (int left = search.window.left; left < search.window.right; left += 32) {
    best = eliminate_columns(search, sums, best, left, search.window.right - left);
  }
  return best;
}

void sums_of_row(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, std::uint16_t* sums) {
  const __m512i zero = _mm512_setzero_si512();
  for (int x = 0; x < count; x += 32) {
    // Sliding sums of four samples are their SADs against nothing.
    const auto sums_of_four = [&](int row) {
      return _mm512_dbsad_epu8(zero, OneRow::load(samples + row * pitch + x), kLeftHalf);
    };
    const __m512i sum = _mm512_add_epi16(_mm512_add_epi16(sums_of_four(0), sums_of_four(1)),
                                         _mm512_add_epi16(sums_of_four(2), sums_of_four(3)));
    const __mmask32 valid = low_bits(count - x);
    _mm512_mask_storeu_epi16(sums + x, valid, sum);
  }
}

}  // namespace c63::cpu::avx512

#endif
