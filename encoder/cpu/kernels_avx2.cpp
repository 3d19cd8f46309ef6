#if defined(C63_SIMD_X86)

#include <immintrin.h>

#include "cpu/kernels_portable.h"
#include "cpu/transform_avx2.h"

namespace c63::cpu {
namespace {

/// A row of eight samples, four times.
__m256i four_times(const std::uint8_t* p) {
  std::int64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return _mm256_set1_epi64x(bytes);
}

enum class Part { first, middle, last };

/// Eight rows of the reference, as in search_avx512.cpp: sum i is that of the row of candidates whose number is i modulo
/// 8. A register holds the candidates 0, 8, 16 and 24 positions from `reference`.
template <Part kPart>
[[gnu::always_inline]] inline void eight_rows(const __m256i (&block)[8], const std::uint8_t* reference,
                                              std::ptrdiff_t pitch, int row, __m256i (&sums)[8], __m256i& best) {
#pragma GCC unroll 8
  for (int r = 0; r < (kPart == Part::last ? 7 : 8); ++r) {
    const __m256i samples = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(reference + r * pitch));
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      if ((kPart == Part::first && k > r) || (kPart == Part::last && k <= r)) continue;
      __m256i& sum = sums[(r - k) & 7];
      const __m256i sad = _mm256_sad_epu8(block[k], samples);
      sum = k == 0 ? sad : _mm256_add_epi32(sum, sad);
    }
    if (kPart != Part::first || r == 7) {
      const __m256i key = _mm256_or_si256(_mm256_slli_epi32(sums[(r - 7) & 7], 16), _mm256_set1_epi32(row + r - 7));
      best = _mm256_min_epu32(best, key);
    }
  }
}

/// Searches 32 columns from `left` on, of which `columns` count.
BestCandidate search_columns(const BlockSearch& search, int left, int columns) {
  const SearchWindow& window = search.window;
  const int rows = window.bottom - window.top;
  const std::ptrdiff_t pitch = search.reference.pitch;
  __m256i block[8];
  for (int k = 0; k < 8; ++k) block[k] = four_times(search.current + k * search.current_pitch);
  std::uint32_t keys[32];
  for (int phase = 0; phase < 8; ++phase) {
    __m256i best = _mm256_set1_epi32(-1);
    const std::uint8_t* reference = &search.reference.at(left + phase, window.top);
    __m256i sums[8];
    int row = 0;
    if (rows >= 8) {
      eight_rows<Part::first>(block, reference, pitch, row, sums, best);
      for (row = 8; row + 8 <= rows; row += 8) {
        eight_rows<Part::middle>(block, reference + row * pitch, pitch, row, sums, best);
      }
      eight_rows<Part::last>(block, reference + row * pitch, pitch, row, sums, best);
    }
    for (; row < rows; ++row) {
      __m256i sum = _mm256_setzero_si256();
      for (int k = 0; k < 8; ++k) {
        const auto* p = reinterpret_cast<const __m256i*>(reference + (row + k) * pitch);
        sum = _mm256_add_epi32(sum, _mm256_sad_epu8(block[k], _mm256_loadu_si256(p)));
      }
      best = _mm256_min_epu32(best, _mm256_or_si256(_mm256_slli_epi32(sum, 16), _mm256_set1_epi32(row)));
    }
    alignas(32) std::uint64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), best);
    for (int i = 0; i < 4; ++i) keys[8 * i + phase] = static_cast<std::uint32_t>(lanes[i]);
  }
  const std::uint32_t* first = std::min_element(keys, keys + std::min(columns, 32));
  return {left + static_cast<int>(first - keys), window.top + static_cast<int>(*first & 0xFFFF), *first >> 16};
}

BestCandidate search_brute(const BlockSearch& search) {
  BestCandidate best{.sad = UINT32_MAX};
  for (int left = search.window.left; left < search.window.right; left += 32) {
    const BestCandidate found = search_columns(search, left, search.window.right - left);
    if (found.sad < best.sad || (found.sad == best.sad && found.y < best.y)) best = found;
  }
  return best;
}

/// Which of 32 neighbouring candidates the sums leave, a bit each; reads 36 sums of two rows.
class SumTest {
 public:
  SumTest(const BlockSearch& search, std::ptrdiff_t sums_pitch) : four_rows_(4 * sums_pitch) {
    for (int i = 0; i < 4; ++i) {
      quarters_[i] = _mm256_set1_epi16(static_cast<short>(portable::sum_of_4x4(
          search.current + (i >> 1) * 4 * search.current_pitch + (i & 1) * 4, search.current_pitch)));
    }
  }

  [[nodiscard]] std::uint32_t survivors(const std::uint16_t* sums, __m256i limit) const {
    // Packing interleaves the halves of both registers, so the quarters are put in order again.
    const __m256i kept = _mm256_packs_epi16(_mm256_cmpgt_epi16(limit, bound(sums)),
                                            _mm256_cmpgt_epi16(limit, bound(sums + 16)));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(kept, 0xD8)));
  }

 private:
  [[nodiscard]] __m256i bound(const std::uint16_t* sums) const {
    const auto difference = [](const std::uint16_t* p, __m256i quarter) {
      return _mm256_abs_epi16(_mm256_sub_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), quarter));
    };
    return _mm256_add_epi16(
        _mm256_add_epi16(difference(sums, quarters_[0]), difference(sums + 4, quarters_[1])),
        _mm256_add_epi16(difference(sums + four_rows_, quarters_[2]), difference(sums + four_rows_ + 4, quarters_[3])));
  }

  std::ptrdiff_t four_rows_;
  __m256i quarters_[4];
};

BestCandidate search_eliminating(const BlockSearch& search, const SumsView& sums, std::span<const Position> starts) {
  const SearchWindow& window = search.window;
  const std::ptrdiff_t pitch = search.reference.pitch;
  const portable::PackedBlock block(search.current, search.current_pitch);
  BestCandidate best{.sad = UINT32_MAX};
  for (const Position start : starts) {
    const std::uint32_t sad = block.sad(&search.reference.at(start.x, start.y), pitch);
    best = sad < best.sad ? BestCandidate{start.x, start.y, sad} : best;
  }
  const SumTest test(search, sums.pitch);
  for (int left = window.left; left < window.right; left += 32) {
    const int columns = window.right - left;
    const std::uint32_t valid = columns >= 32 ? ~0U : (1U << columns) - 1U;
    // Before the best candidate known, one that is as good would win.
    const __m256i strict = _mm256_set1_epi16(static_cast<short>(best.sad));
    const __m256i or_equal = _mm256_set1_epi16(static_cast<short>(best.sad + 1));
    std::uint32_t survivors[256];
    const std::uint16_t* row_of_sums = sums.at(left, window.top);
    for (int y = window.top; y < window.bottom; ++y, row_of_sums += sums.pitch) {
      survivors[y - window.top] = valid & test.survivors(row_of_sums, y <= best.y ? or_equal : strict);
    }
    for (int y = window.top; y < window.bottom; ++y) {
      const std::uint8_t* row = &search.reference.at(left, y);
      for (std::uint32_t bits = survivors[y - window.top]; bits != 0; bits &= bits - 1) {
        const int x = std::countr_zero(bits);
        const std::uint32_t sad = block.sad(row + x, pitch);
        if (sad > best.sad) continue;
        if (sad < best.sad || y < best.y || (y == best.y && left + x < best.x)) best = {left + x, y, sad};
      }
    }
  }
  return best;
}

}  // namespace

const Kernels& avx2_kernels() {
  static constexpr Kernels kKernels{SimdLevel::avx2, 0, portable::sad,           search_brute,
                                    search_eliminating, portable::sums_of_row, avx2::code_block,
                                    avx2::restore_block, portable::squared_error, portable::ssim_sums};
  return kKernels;
}

}  // namespace c63::cpu

#endif
