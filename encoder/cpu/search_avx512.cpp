#if defined(C63_SIMD_X86)

// Motion search with AVX-512: a whole row of candidates per step.
//
// VDBPSADBW gives, per 16-byte lane, the SADs of four samples of the block at eight neighbouring positions, so a
// register holds 32 candidates (16 in the half-width form) and a row of the block takes two instructions: one for its left
// half and one for its right.

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

/// 32 candidates side by side.
struct Wide {
  static constexpr int kColumns = 32;
  using Vector = __m512i;
  using Mask = __mmask32;

  static Vector load(const void* p) { return _mm512_loadu_si512(p); }
  /// Sixteen bytes from every eighth one, so that each lane sees all that its eight candidates cover.
  static Vector load_overlapping(const std::uint8_t* p) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 1, 2, 2, 3, 3, 4), _mm512_loadu_si512(p));
  }
  static Vector four_samples(const std::uint8_t* p) {
    std::int32_t bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    return _mm512_set1_epi32(bytes);
  }
  static Vector left_sad(Vector block, Vector reference) { return _mm512_dbsad_epu8(block, reference, 0x94); }
  static Vector right_sad(Vector block, Vector reference) { return _mm512_dbsad_epu8(block, reference, 0xE9); }
  static Vector add(Vector a, Vector b) { return _mm512_add_epi16(a, b); }
  static Vector all(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }
  static Vector min(Vector a, Vector b) { return _mm512_min_epu16(a, b); }
  static Mask less(Vector a, Vector b) { return _mm512_cmplt_epu16_mask(a, b); }
  static Mask equal(Mask among, Vector a, Vector b) { return _mm512_mask_cmpeq_epu16_mask(among, a, b); }
  static Vector where(Mask mask, Vector a, Vector otherwise) { return _mm512_mask_mov_epi16(otherwise, mask, a); }
  static int smallest(Vector v) {
    const __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return _mm_cvtsi128_si32(_mm_minpos_epu16(quarter)) & 0xFFFF;
  }
};

/// 16 candidates side by side.
struct Narrow {
  static constexpr int kColumns = 16;
  using Vector = __m256i;
  using Mask = __mmask16;

  static Vector load_overlapping(const std::uint8_t* p) {
    return _mm256_permute4x64_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), 0x94);
  }
  static Vector four_samples(const std::uint8_t* p) {
    std::int32_t bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    return _mm256_set1_epi32(bytes);
  }
  static Vector left_sad(Vector block, Vector reference) { return _mm256_dbsad_epu8(block, reference, 0x94); }
  static Vector right_sad(Vector block, Vector reference) { return _mm256_dbsad_epu8(block, reference, 0xE9); }
  static Vector add(Vector a, Vector b) { return _mm256_add_epi16(a, b); }
  static Vector all(int value) { return _mm256_set1_epi16(static_cast<short>(value)); }
  static Vector min(Vector a, Vector b) { return _mm256_min_epu16(a, b); }
  static Mask less(Vector a, Vector b) { return _mm256_cmplt_epu16_mask(a, b); }
  static Mask equal(Mask among, Vector a, Vector b) { return _mm256_mask_cmpeq_epu16_mask(among, a, b); }
  static Vector where(Mask mask, Vector a, Vector otherwise) { return _mm256_mask_mov_epi16(otherwise, mask, a); }
  static int smallest(Vector v) {
    const __m128i half = _mm_min_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return _mm_cvtsi128_si32(_mm_minpos_epu16(half)) & 0xFFFF;
  }
};

constexpr bool is_better(const BestCandidate& a, const BestCandidate& b) {
  return a.sad != b.sad ? a.sad < b.sad : a.y != b.y ? a.y < b.y : a.x < b.x;
}

/// The samples of a block, four to a register.
template <typename V>
struct BlockRows {
  typename V::Vector left[8];
  typename V::Vector right[8];

  [[gnu::always_inline]] explicit BlockRows(const BlockSearch& block) {
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      left[k] = V::four_samples(block.current + k * block.current_pitch);
      right[k] = V::four_samples(block.current + k * block.current_pitch + 4);
    });
  }
};

/// The smallest SAD of each column of candidates, and the first row that has it.
template <typename V>
struct ColumnMinima {
  typename V::Vector sads = V::all(0xFFFF);
  typename V::Vector rows = V::all(0);

  void take(typename V::Vector sad, int row) {
    const typename V::Mask less = V::less(sad, sads);
    sads = V::min(sad, sads);
    rows = V::where(less, V::all(row), rows);
  }

  [[nodiscard]] BestCandidate best(int left, int top, int columns) const {
    const auto valid = static_cast<typename V::Mask>(columns >= V::kColumns ? -1 : (1LL << columns) - 1);
    const typename V::Vector ones = V::all(0xFFFF);
    const int sad = V::smallest(V::where(valid, sads, ones));
    const typename V::Mask equal = V::equal(valid, sads, V::all(sad));
    const int row = V::smallest(V::where(equal, rows, ones));
    const typename V::Mask first = V::equal(equal, rows, V::all(row));
    return {left + std::countr_zero(static_cast<unsigned>(first)), top + row, static_cast<std::uint32_t>(sad)};
  }
};

enum class Part { first, middle, last };

/// Eight rows of the reference, `reference` and `row` move on over them. Each belongs to eight rows of candidates, so eight sums are under way at any time: sum
/// i is that of the candidate row whose number is i modulo 8. In the first eight rows no candidate ends but the first
/// one, and in the last eight none begins.
template <typename V, Part kPart>
[[gnu::always_inline]] inline void eight_rows(const BlockRows<V>& block, const std::uint8_t*& reference,
                                              std::ptrdiff_t pitch, int& row, typename V::Vector (&sums)[8],
                                              ColumnMinima<V>& minima) {
  unroll<kPart == Part::last ? 7 : 8>([&](auto r) __attribute__((always_inline)) {
    const typename V::Vector samples = V::load_overlapping(reference);
    reference += pitch;
    asm("" : "+r"(reference));  // one address at a time, or there are not enough registers for all
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      if constexpr (kPart == Part::middle || (kPart == Part::first) == (k <= r)) {
        typename V::Vector& sum = sums[(r - k) & 7];
        const typename V::Vector left = V::left_sad(block.left[k], samples);
        const typename V::Vector right = V::right_sad(block.right[k], samples);
        if constexpr (k == 0) {
          sum = V::add(left, right);
        } else {
          sum = V::add(V::add(sum, left), right);
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
template <typename V>
[[gnu::always_inline]] inline void search_groups(const BlockRows<V>& block, const std::uint8_t* reference,
                                                 std::ptrdiff_t pitch, int row, int groups, ColumnMinima<V>& minima) {
  typename V::Vector sums[8];
  reference += row * pitch;
  eight_rows<V, Part::first>(block, reference, pitch, row, sums, minima);
  for (int group = 1; group < groups; ++group) {
    eight_rows<V, Part::middle>(block, reference, pitch, row, sums, minima);
  }
  eight_rows<V, Part::last>(block, reference, pitch, row, sums, minima);
}

/// The SADs of one row of candidates.
template <typename V>
[[gnu::always_inline]] inline typename V::Vector sads_of_row(const BlockRows<V>& block, const std::uint8_t* reference,
                                                             std::ptrdiff_t pitch) {
  typename V::Vector left = V::all(0);
  typename V::Vector right = V::all(0);
  unroll<8>([&](auto k) __attribute__((always_inline)) {
    const typename V::Vector samples = V::load_overlapping(reference + k * pitch);
    left = V::add(left, V::left_sad(block.left[k], samples));
    right = V::add(right, V::right_sad(block.right[k], samples));
    keep(left);
    keep(right);
  });
  return V::add(left, right);
}

/// Searches the columns [left, left + columns) of a window.
template <typename V>
[[gnu::noinline]] BestCandidate search_columns(const BlockSearch& search, int left, int columns) {
  const BlockRows<V> block(search);
  const SearchWindow& window = search.window;
  const std::uint8_t* reference = &search.reference.at(left, window.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  const int rows = window.bottom - window.top;
  ColumnMinima<V> minima;
  if (rows >= 8) search_groups<V>(block, reference, pitch, 0, rows / 8, minima);
  for (int row = rows & ~7; row < rows; ++row) {
    minima.take(sads_of_row<V>(block, reference + row * pitch, pitch), row);
  }
  return minima.best(left, window.top, columns);
}

}  // namespace

BestCandidate search_brute(const BlockSearch& search) {
  const SearchWindow& window = search.window;
  BestCandidate best{.sad = UINT32_MAX};
  for (int left = window.left; left < window.right; left += Wide::kColumns) {
    const int columns = window.right - left;
    const BestCandidate found = columns > Narrow::kColumns ? search_columns<Wide>(search, left, columns)
                                                           : search_columns<Narrow>(search, left, columns);
    if (is_better(found, best)) best = found;
  }
  return best;
}

std::uint32_t sad(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch) {
  const auto two_rows = [](const std::uint8_t* p, std::ptrdiff_t pitch) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return _mm_castpd_si128(
        _mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(p + pitch)));
  };
  __m128i sum = _mm_sad_epu8(two_rows(a, a_pitch), two_rows(b, b_pitch));
  for (int y = 2; y < 8; y += 2) {
    sum = _mm_add_epi32(sum, _mm_sad_epu8(two_rows(a + y * a_pitch, a_pitch), two_rows(b + y * b_pitch, b_pitch)));
  }
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum) + _mm_extract_epi16(sum, 4));
}

namespace {

/// The samples of a block, two rows to a register.
struct PackedBlock {
  __m128i rows[4];

  static __m128i two_rows(const std::uint8_t* p, std::ptrdiff_t pitch) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(p + pitch)));
  }
  explicit PackedBlock(const BlockSearch& search) {
    for (int k = 0; k < 4; ++k) rows[k] = two_rows(search.current + 2 * k * search.current_pitch, search.current_pitch);
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
  const auto valid = static_cast<__mmask32>(columns >= 32 ? ~0U : (1U << columns) - 1U);
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
    const BestCandidate found = search_columns<Wide>(search, left, columns);
    return is_better(found, best) ? found : best;
  }
  const std::uint8_t* reference = &search.reference.at(left, window.top);
  const BlockRows<Wide> rows_of_block(search);
  ColumnMinima<Wide> minima;
  for (int i = 0; i < count; ++i) {
    const int row = static_cast<int>(searched[i]);
    minima.take(sads_of_row<Wide>(rows_of_block, reference + row * pitch, pitch), row);
  }
  const BestCandidate found = minima.best(left, window.top, columns);
  return is_better(found, best) ? found : best;
}

}  // namespace

BestCandidate search_eliminating(const BlockSearch& search, const SumsView& sums, std::span<const Position> starts) {
  const PackedBlock block(search);
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
      return _mm512_dbsad_epu8(zero, Wide::load_overlapping(samples + row * pitch + x), 0x94);
    };
    const __m512i sum = _mm512_add_epi16(_mm512_add_epi16(sums_of_four(0), sums_of_four(1)),
                                         _mm512_add_epi16(sums_of_four(2), sums_of_four(3)));
    const auto valid = static_cast<__mmask32>(count - x >= 32 ? ~0U : (1U << (count - x)) - 1U);
    _mm512_mask_storeu_epi16(sums + x, valid, sum);
  }
}

}  // namespace c63::cpu::avx512

#endif
