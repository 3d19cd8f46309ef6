#pragma once

// Code of the searches with AVX-512 that skip candidates. An octet is eight neighbouring candidates in a row.
// Everything is local to the file that includes it, as in candidates_avx512.h.

#include <array>
#include <bit>

#include "cpu/candidates_avx512.h"

namespace c63::cpu::avx512 {
namespace {

constexpr int kOctet = 8;
constexpr int kTileColumns = 32;
constexpr int kTileOctets = kTileColumns / kOctet;
constexpr int kTileRows = 64;  ///< so that the number of an octet in its tile fits in a byte
constexpr int kTogether = 4;   ///< octets searched at the same time
/// The distance between the number of an octet and that of the octet two rows below, in each of eight bytes.
constexpr std::uint64_t kRowPair = 2 * kTileOctets * 0x0101010101010101;

/// Part of a window: at most kTileColumns x kTileRows candidates. Its rows consist of whole octets.
struct Tile {
  int left = 0;
  int top = 0;
  int columns = 0;
  int rows = 0;
};

/// Returns the numbers 0, 1, …, kCount - 1.
template <typename T, std::size_t kCount>
constexpr std::array<T, kCount> iota() {
  std::array<T, kCount> numbers{};
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<T>(i);
  return numbers;
}
alignas(64) constexpr std::array<std::uint16_t, 32> kWordNumbers = iota<std::uint16_t, 32>();

[[gnu::always_inline]] inline __m128i sixteen_samples(const std::uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

/// Returns the SADs of four octets. The arguments point to the samples of their first candidates.
[[gnu::always_inline]] inline __m512i sads_of_octets(const BlockRows& block, const std::uint8_t* a,
                                                     const std::uint8_t* b, const std::uint8_t* c,
                                                     const std::uint8_t* d, std::ptrdiff_t pitch) {
  __m512i left = _mm512_setzero_si512();
  __m512i right = _mm512_setzero_si512();
  unroll<kBlockSize>([&](auto k) __attribute__((always_inline)) {
    const __m256i first = _mm256_inserti128_si256(_mm256_castsi128_si256(sixteen_samples(a)), sixteen_samples(b), 1);
    const __m256i second = _mm256_inserti128_si256(_mm256_castsi128_si256(sixteen_samples(c)), sixteen_samples(d), 1);
    const __m512i samples = _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
    left = _mm512_add_epi16(left, _mm512_dbsad_epu8(block.left[k], samples, kLeftHalf));
    right = _mm512_add_epi16(right, _mm512_dbsad_epu8(block.right[k], samples, kRightHalf));
    keep(left);
    keep(right);
    a += pitch;
    b += pitch;
    c += pitch;
    d += pitch;
    // Makes the compiler keep four addresses, instead of one for each row of each octet.
    asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  });
  return _mm512_add_epi16(left, right);
}

/// Returns the sum of the 4x4 samples at p.
int sum_of_4x4(const std::uint8_t* p, std::ptrdiff_t pitch) {
  const auto row = [&](int y) {
    std::int32_t bytes;
    __builtin_memcpy(&bytes, p + y * pitch, sizeof bytes);
    return bytes;
  };
  const __m128i sum = _mm_sad_epu8(_mm_setr_epi32(row(0), row(1), row(2), row(3)), _mm_setzero_si128());
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum)));
}

/// Quarter sums of 32 neighbouring candidates: those of the left and of the right 4x4 samples of their upper (or lower)
/// half.
struct QuarterRow {
  __m256i left;
  __m256i right;

  [[gnu::always_inline]] static __m256i load(const std::uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  [[gnu::always_inline]] explicit QuarterRow(const std::uint8_t* p) : left(load(p)), right(load(p + 4)) {}
};

/// The quarter sums of the block's four squares of 4x4 samples, each in all bytes of a register.
struct Quarters {
  __m256i top_left;
  __m256i top_right;
  __m256i bottom_left;
  __m256i bottom_right;

  [[gnu::always_inline]] explicit Quarters(const BlockSearch& search)
      : top_left(quarter(search, 0, 0)),
        top_right(quarter(search, 4, 0)),
        bottom_left(quarter(search, 0, 4)),
        bottom_right(quarter(search, 4, 4)) {}

  /// Returns lower bounds of the SADs of 32 neighbouring candidates, divided by four, as QuarterBounds does. `above`
  /// has the quarter sums of their upper halves, `below` those of their lower halves.
  [[gnu::always_inline]] __m256i bounds(const QuarterRow& above, const QuarterRow& below) const {
    return _mm256_adds_epu8(_mm256_adds_epu8(distance(above.left, top_left), distance(above.right, top_right)),
                            _mm256_adds_epu8(distance(below.left, bottom_left), distance(below.right, bottom_right)));
  }

 private:
  [[gnu::always_inline]] static __m256i distance(__m256i a, __m256i b) { return _mm256_abs_epi8(_mm256_sub_epi8(a, b)); }
  [[gnu::always_inline]] static __m256i quarter(const BlockSearch& search, int x, int y) {
    const int sum = sum_of_4x4(search.current + y * search.current_pitch + x, search.current_pitch);
    return _mm256_set1_epi8(static_cast<char>(quarter_sum(sum)));
  }
};

/// Lists the octets of two rows with at least one candidate that is not ruled out. `first` and `second` mark these
/// candidates in each row. `numbers` has a byte for each octet; the octets of the first row come first. Always writes
/// eight entries to `octets`, and returns how many of them are valid.
[[gnu::always_inline]] inline int list_octets_of(__mmask32 first, __mmask32 second, std::uint64_t numbers,
                                                 std::uint8_t* octets) {
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  const std::uint64_t bits = _cvtmask64_u64(_mm512_kunpackd(second, first));
  // If a byte of `bits` is not 0, the top bit of the same byte of `found` is 1.
  const std::uint64_t found = (((bits & kLow) + kLow) | bits) & ~kLow;
  const std::uint64_t listed = _pext_u64(numbers, (found << 1) - (found >> 7));
  __builtin_memcpy(octets, &listed, sizeof listed);
  return std::popcount(found);
}

}  // namespace
}  // namespace c63::cpu::avx512
