#if defined(C63_SIMD_X86)

#include <immintrin.h>

#include "cpu/kernels_portable.h"
#include "cpu/transform_avx2.h"

namespace c63::cpu {
namespace {

/// Returns a row of eight samples, repeated four times.
__m256i four_times(const std::uint8_t* p) {
  std::int64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return _mm256_set1_epi64x(bytes);
}

/// A register of candidates: four in one row, 8 positions apart.
struct OneRow {
  static constexpr int kColumns = 32;

  static __m256i load(const std::uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static __m256i rows(int row) { return _mm256_set1_epi32(row); }
};

/// A register of candidates: two in one row, 8 positions apart, and two at the same columns `below` rows further down.
struct TwoRows {
  static constexpr int kColumns = 16;
  int below;
  std::ptrdiff_t pitch;

  [[nodiscard]] __m256i load(const std::uint8_t* p) const {
    const auto half = [](const std::uint8_t* q) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(q)); };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(half(p)), half(p + below * pitch), 1);
  }
  [[nodiscard]] __m256i rows(int row) const { return _mm256_setr_m128i(_mm_set1_epi32(row), _mm_set1_epi32(row + below)); }
};

enum class Part { first, middle, last };

/// Processes eight rows of the reference, as in columns_avx512.h: sum i belongs to the candidate row whose number is i
/// modulo 8.
template <Part kPart, typename Shape>
[[gnu::always_inline]] inline void eight_rows(const Shape& shape, const __m256i (&block)[8], const std::uint8_t* reference,
                                              std::ptrdiff_t pitch, int row, __m256i (&sums)[8], __m256i& best) {
#pragma GCC unroll 8
  for (int r = 0; r < (kPart == Part::last ? 7 : 8); ++r) {
    const __m256i samples = shape.load(reference + r * pitch);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      if ((kPart == Part::first && k > r) || (kPart == Part::last && k <= r)) continue;
      __m256i& sum = sums[(r - k) & 7];
      const __m256i sad = _mm256_sad_epu8(block[k], samples);
      sum = k == 0 ? sad : _mm256_add_epi32(sum, sad);
    }
    if (kPart != Part::first || r == 7) {
      const __m256i key = _mm256_or_si256(_mm256_slli_epi32(sums[(r - 7) & 7], 16), shape.rows(row + r - 7));
      best = _mm256_min_epu32(best, key);
    }
  }
}

/// Searches the window's columns from `left` on: `columns` of them, but at most Shape::kColumns. The candidates of a
/// register lie 8 positions apart. So a register moves down `rows` rows eight times, each time one position further
/// right.
template <typename Shape>
BestCandidate search_columns(const BlockSearch& search, const Shape& shape, int left, int columns, int rows) {
  const int top = search.window.top;
  const std::ptrdiff_t pitch = search.reference.pitch;
  __m256i block[8];
  for (int k = 0; k < 8; ++k) block[k] = four_times(search.current + k * search.current_pitch);
  std::uint32_t keys[Shape::kColumns];
  std::fill_n(keys, Shape::kColumns, UINT32_MAX);
  for (int phase = 0; phase < 8; ++phase) {
    __m256i best = _mm256_set1_epi32(-1);
    const std::uint8_t* reference = &search.reference.at(left + phase, top);
    __m256i sums[8];
    int row = 0;
    if (rows >= 8) {
      eight_rows<Part::first>(shape, block, reference, pitch, row, sums, best);
      for (row = 8; row + 8 <= rows; row += 8) {
        eight_rows<Part::middle>(shape, block, reference + row * pitch, pitch, row, sums, best);
      }
      eight_rows<Part::last>(shape, block, reference + row * pitch, pitch, row, sums, best);
    }
    for (; row < rows; ++row) {
      __m256i sum = _mm256_setzero_si256();
      for (int k = 0; k < 8; ++k) {
        sum = _mm256_add_epi32(sum, _mm256_sad_epu8(block[k], shape.load(reference + (row + k) * pitch)));
      }
      best = _mm256_min_epu32(best, _mm256_or_si256(_mm256_slli_epi32(sum, 16), shape.rows(row)));
    }
    alignas(32) std::uint64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), best);
    for (int i = 0; i < 4; ++i) {
      std::uint32_t& key = keys[8 * i % Shape::kColumns + phase];
      key = std::min(key, static_cast<std::uint32_t>(lanes[i]));
    }
  }
  const std::uint32_t* first = std::min_element(keys, keys + std::min(columns, Shape::kColumns));
  return {left + static_cast<int>(first - keys), top + static_cast<int>(*first & 0xFFFF), *first >> 16};
}

BestCandidate search_columns(const BlockSearch& search, int left, int columns) {
  const int rows = search.window.bottom - search.window.top;
  if (columns <= TwoRows::kColumns && rows % 2 == 0) {
    return search_columns(search, TwoRows{rows / 2, search.reference.pitch}, left, columns, rows / 2);
  }
  return search_columns(search, OneRow{}, left, columns, rows);
}

BestCandidate search_brute(const BlockSearch& search) {
  BestCandidate best{.sad = UINT32_MAX};
  for (int left = search.window.left; left < search.window.right; left += 32) {
    const BestCandidate found = search_columns(search, left, search.window.right - left);
    if (found.sad < best.sad || (found.sad == best.sad && found.y < best.y)) best = found;
  }
  return best;
}

/// Returns the SADs of eight neighbouring candidates. VMPSADBW takes a row of the block in one step, its left half in
/// one lane and its right half in the other.
[[gnu::always_inline]] inline __m128i sads_of_eight(const __m256i (&block)[8], const std::uint8_t* reference,
                                                    std::ptrdiff_t pitch) {
  __m256i sum = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) {
    const __m256i samples = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(reference + k * pitch)));
    sum = _mm256_add_epi16(sum, _mm256_mpsadbw_epu8(samples, block[k], 0x28));
  }
  return _mm_add_epi16(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

constexpr bool is_better(const BestCandidate& a, const BestCandidate& b) {
  return a.sad != b.sad ? a.sad < b.sad : a.y != b.y ? a.y < b.y : a.x < b.x;
}

/// Searches the columns [left, left + columns) of a window, but at most 32. Returns the best candidate there, or `best`
/// if none is better.
BestCandidate eliminate_columns(const BlockSearch& search, const portable::QuarterBounds& bounds,
                                const QuarterSumsView& sums, const __m256i (&block)[8], const BestCandidate& best, int left, int columns) {
  const SearchWindow& window = search.window;
  const int rows = window.bottom - window.top;
  const std::ptrdiff_t pitch = search.reference.pitch;
  static_assert(portable::QuarterBounds::kLanes == 32);
  const std::uint8_t limit = quarter_limit(static_cast<int>(best.sad));
  alignas(32) std::uint32_t survivors[256 + 16];  // for each row, a byte for each eight candidates
  const std::uint8_t* row_of_sums = sums.at(left, window.top);
  for (int row = 0; row < rows; ++row, row_of_sums += sums.pitch) {
    survivors[row] = portable::QuarterBounds::at_most(bounds.at(row_of_sums, sums.pitch), limit, columns);
  }
  std::fill_n(survivors + rows, 15, 0U);

  // Candidates that their sums do not rule out lie close together, and eight neighbours cost little more than one. So
  // all eight are searched if one of them is not ruled out.
  alignas(16) std::uint16_t beyond[4][8];  // all ones for candidates to the right of the window
  for (int x = 0; x < 32; ++x) beyond[x / 8][x % 8] = x < columns ? 0 : 0xFFFF;
  const std::uint8_t* reference = &search.reference.at(left, window.top);
  std::uint32_t best_key = UINT32_MAX;  // the SAD, and below it the place in raster order
  for (int row = 0; row < rows; row += 16) {
    const auto nonzero = [&](int first) {
      const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(survivors + first));
      const __m256i zero = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
      return static_cast<std::uint64_t>(~static_cast<std::uint32_t>(_mm256_movemask_epi8(zero)));
    };
    for (std::uint64_t groups = nonzero(row) | nonzero(row + 8) << 32; groups != 0; groups &= groups - 1) {
      const auto group = static_cast<unsigned>(4 * row + std::countr_zero(groups));
      const __m128i sads = sads_of_eight(block, reference + (group / 4) * pitch + group % 4 * 8, pitch);
      const __m128i invalid = _mm_load_si128(reinterpret_cast<const __m128i*>(beyond[group % 4]));
      const auto least = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_or_si128(sads, invalid))));
      best_key = std::min(best_key, least << 16 | group << 3 | least >> 16);
    }
  }
  const int place = static_cast<int>(best_key & 0xFFFF);  // 32 candidates in each row
  const BestCandidate found{left + place % 32, window.top + place / 32, best_key >> 16};
  return best_key != UINT32_MAX && is_better(found, best) ? found : best;
}

BestCandidate eliminate(const StartedSearch& search, const QuarterSumsView& sums) {
  const SearchWindow& window = search.window;
  const portable::PackedBlock packed(search.current, search.current_pitch);
  BestCandidate best{.sad = UINT32_MAX};
  for (const Position start : search.starts) {
    const std::uint32_t sad = packed.sad(&search.reference.at(start.x, start.y), search.reference.pitch);
    best = sad < best.sad ? BestCandidate{start.x, start.y, sad} : best;
  }
  if (quarter_limit(static_cast<int>(best.sad)) == kNoQuarterLimit) return search_brute(search);
  const portable::QuarterBounds bounds(search);
  __m256i block[8];
  for (int k = 0; k < 8; ++k) block[k] = four_times(search.current + k * search.current_pitch);
  for (int left = window.left; left < window.right; left += 32) {
    best = eliminate_columns(search, bounds, sums, block, best, left, window.right - left);
  }
  return best;
}

void search_eliminating(std::span<const StartedSearch> blocks, const QuarterSumsView& sums, BestCandidate* best) {
  for (const StartedSearch& block : blocks) *best++ = eliminate(block, sums);
}

}  // namespace

const Kernels& avx2_kernels() {
  static constexpr Kernels kKernels{SimdLevel::avx2,      portable::sad,         search_brute,
                                    search_eliminating,   portable::quarter_sums, avx2::transform_quantize,
                                    avx2::dequantize_reconstruct, portable::ssim_sums, avx2_decision_kernels};
  return kKernels;
}

}  // namespace c63::cpu

#endif
