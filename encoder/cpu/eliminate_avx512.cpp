#if defined(C63_SIMD_X86)

// Full search with AVX-512 that leaves out what the sums of 4x4 samples prove to be worse than a candidate already
// known.
//
// Candidates are taken by octets: eight neighbours of a row. A first step finds which octets have a candidate left, 32
// candidates of a row at a time and without a branch. A second step searches those octets, four at a time: survivors
// stand close together, and an octet costs little more than one candidate alone. Each step is a function that is not
// inlined, for it wants all registers for itself.

#include <algorithm>
#include <array>
#include <bit>

#include "cpu/candidates_avx512.h"
#include "cpu/kernels_avx512.h"

namespace c63::cpu::avx512 {
namespace {

constexpr int kOctet = 8;
constexpr int kTileColumns = 32;
constexpr int kTileOctets = kTileColumns / kOctet;
constexpr int kTileRows = 64;  ///< so that the number of an octet in its tile is a byte
constexpr int kStarts = 4;     ///< octets searched at the same time
/// What the numbers of the octets of two rows have to grow by for the next two.
constexpr std::uint64_t kRowPair = 2 * kTileOctets * 0x0101010101010101;

/// Part of a window: at most kTileColumns x kTileRows candidates, in rows of whole octets.
struct Tile {
  int left = 0;
  int top = 0;
  int columns = 0;
  int rows = 0;
};

/// The 0, 1, … of a register's places.
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

/// The SADs of four octets; each begins where its pointer says.
[[gnu::always_inline]] inline __m512i sads_of_octets(const BlockRows& block, const std::uint8_t* a,
                                                     const std::uint8_t* b, const std::uint8_t* c,
                                                     const std::uint8_t* d, std::ptrdiff_t pitch) {
  __m512i left = _mm512_setzero_si512();
  __m512i right = _mm512_setzero_si512();
  unroll<kBlockSize>([&](auto k) __attribute__((always_inline)) {
    // A broadcast from memory with a mask takes either vector port, an insertion into the upper half one of them.
    __m512i samples = _mm512_castsi128_si512(sixteen_samples(a));
    samples = _mm512_mask_broadcast_i64x2(samples, 0x0C, sixteen_samples(b));
    samples = _mm512_mask_broadcast_i64x2(samples, 0x30, sixteen_samples(c));
    samples = _mm512_mask_broadcast_i64x2(samples, 0xC0, sixteen_samples(d));
    left = _mm512_add_epi16(left, _mm512_dbsad_epu8(block.left[k], samples, kLeftHalf));
    right = _mm512_add_epi16(right, _mm512_dbsad_epu8(block.right[k], samples, kRightHalf));
    keep(left);
    keep(right);
    a += pitch;
    b += pitch;
    c += pitch;
    d += pitch;
    asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));  // four addresses, not one for each row of each
  });
  return _mm512_add_epi16(left, right);
}

/// Sum of 4x4 samples.
int sum_of_4x4(const std::uint8_t* p, std::ptrdiff_t pitch) {
  const auto row = [&](int y) {
    std::int32_t bytes;
    __builtin_memcpy(&bytes, p + y * pitch, sizeof bytes);
    return bytes;
  };
  const __m128i sum = _mm_sad_epu8(_mm_setr_epi32(row(0), row(1), row(2), row(3)), _mm_setzero_si128());
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum)));
}

/// The sums of a row of 32 candidates' left and right squares.
struct SumRow {
  __m512i left;
  __m512i right;
  [[gnu::always_inline]] explicit SumRow(const std::uint16_t* p)
      : left(_mm512_loadu_si512(p)), right(_mm512_loadu_si512(p + 4)) {}
  [[gnu::always_inline]] __m512i difference(__m512i a, __m512i b) const {
    return _mm512_add_epi16(_mm512_abs_epi16(_mm512_sub_epi16(left, a)), _mm512_abs_epi16(_mm512_sub_epi16(right, b)));
  }
};

/// Lists the octets of two rows that have a candidate, of 32 each, at `octets`, of which eight are written: the numbers in
/// `numbers`, a byte for each octet, the first row's first. Returns how many they are.
[[gnu::always_inline]] inline int list_octets_of(__mmask32 first, __mmask32 second, std::uint64_t numbers,
                                                 std::uint8_t* octets) {
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  const std::uint64_t bits = _cvtmask64_u64(_mm512_kunpackd(second, first));
  const std::uint64_t found = (((bits & kLow) + kLow) | bits) & ~kLow;  // the top bit of each byte that is not 0
  const std::uint64_t listed = _pext_u64(numbers, (found << 1) - (found >> 7));
  __builtin_memcpy(octets, &listed, sizeof listed);
  return std::popcount(found);
}

/// The sums of the block's own squares.
struct Quarters {
  __m512i top_left;
  __m512i top_right;
  __m512i bottom_left;
  __m512i bottom_right;

  [[gnu::always_inline]] explicit Quarters(const BlockSearch& search)
      : top_left(quarter(search, 0, 0)),
        top_right(quarter(search, 4, 0)),
        bottom_left(quarter(search, 0, 4)),
        bottom_right(quarter(search, 4, 4)) {}

 private:
  static __m512i quarter(const BlockSearch& search, int x, int y) {
    return all(sum_of_4x4(search.current + y * search.current_pitch + x, search.current_pitch));
  }
};

/// The best of the octets that have these candidates in their middle, as far as the window lets them.
[[gnu::noinline]] BestCandidate best_of_starts(const BlockSearch& search, const Position& a, const Position& b,
                                               const Position& c, const Position& d) {
  const BlockRows block(search);
  const SearchWindow& window = search.window;
  Position first[kStarts];
  const auto octet_around = [&](const Position& start, Position& at) __attribute__((always_inline)) {
    int x = start.x;
    asm("" : "+r"(x));  // one by one, as they were written: read as a vector they would have to wait
    at = {std::clamp(x - kOctet / 2, window.left, window.right - kOctet), start.y};
    return &search.reference.at(at.x, at.y);
  };
  const __m512i sads = sads_of_octets(block, octet_around(a, first[0]), octet_around(b, first[1]),
                                      octet_around(c, first[2]), octet_around(d, first[3]), search.reference.pitch);
  const int sad = smallest(sads);
  const auto place = static_cast<unsigned>(std::countr_zero(_cvtmask32_u32(_mm512_cmpeq_epi16_mask(sads, all(sad)))));
  const Position at = first[place / kOctet];
  return {at.x + static_cast<int>(place % kOctet), at.y, static_cast<std::uint32_t>(sad)};
}

/// Lists the octets of a tile that have a candidate left, in raster order; returns how many they are.
[[gnu::noinline]] int list_octets(const BlockSearch& search, const SumsView& view, const Tile& tile,
                                  const BestCandidate& best, std::uint8_t* octets) {
  const Quarters quarters(search);
  const auto valid = static_cast<__mmask32>(low_bits(tile.columns));
  const std::uint16_t* sums = view.at(tile.left, tile.top);
  // What is below of one row is above of the fourth from it. Rows beyond the tile are tested, and taken off the list.
  SumRow above[4] = {SumRow(sums), SumRow(sums + view.pitch), SumRow(sums + 2 * view.pitch),
                     SumRow(sums + 3 * view.pitch)};
  int count = 0;
  std::uint64_t numbers = 0x0706050403020100;
  for (int row = 0; row < tile.rows; row += 4) {
    // Before the best candidate known, one that is as good would win.
    const __m512i limit = all(static_cast<int>(best.sad) + (tile.top + row <= best.y ? 1 : 0));
    sums += 4 * view.pitch;
    __mmask32 kept[4];
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      const SumRow below(sums + i * view.pitch);
      const __m512i bound = _mm512_add_epi16(above[i].difference(quarters.top_left, quarters.top_right),
                                             below.difference(quarters.bottom_left, quarters.bottom_right));
      kept[i] = _mm512_mask_cmplt_epu16_mask(valid, bound, limit);
      above[i] = below;
    });
    unroll<2>([&](auto i) __attribute__((always_inline)) {
      count += list_octets_of(kept[2 * i], kept[2 * i + 1], numbers, octets + count);
      numbers += kRowPair;
    });
  }
  while (count > 0 && octets[count - 1] >= kTileOctets * tile.rows) --count;
  return count;
}

/// The best candidate of the octets listed, whose number is a multiple of four.
[[gnu::noinline]] BestCandidate search_octets(const BlockSearch& search, const Tile& tile, const std::uint8_t* octets,
                                              int count) {
  const BlockRows block(search);
  const std::uint8_t* const reference = &search.reference.at(tile.left, tile.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  const auto samples_of = [&](int octet) {
    return reference + octet / kTileOctets * pitch + octet % kTileOctets * kOctet;
  };
  __m512i sads = all(0xFFFF);
  __m512i found = all(0);  // where in the list the four octets begin
  for (int i = 0; i < count; i += 4) {
    const __m512i some = sads_of_octets(block, samples_of(octets[i]), samples_of(octets[i + 1]),
                                        samples_of(octets[i + 2]), samples_of(octets[i + 3]), pitch);
    const __mmask32 less = _mm512_cmplt_epu16_mask(some, sads);
    sads = _mm512_min_epu16(some, sads);
    found = _mm512_mask_mov_epi16(found, less, all(i));
  }
  // The list is in raster order: of equal SADs, the first in it.
  const int sad = smallest(sads);
  const __mmask32 equal = _mm512_cmpeq_epi16_mask(sads, all(sad));
  const __m512i places = _mm512_add_epi16(_mm512_slli_epi16(found, 3), _mm512_load_si512(kWordNumbers.data()));
  const int place = smallest(_mm512_mask_mov_epi16(all(0xFFFF), equal, places));
  const int octet = octets[place / kOctet];
  return {tile.left + octet % kTileOctets * kOctet + place % kOctet, tile.top + octet / kTileOctets,
          static_cast<std::uint32_t>(sad)};
}

/// The best of `best` and the candidates of a tile.
BestCandidate search_tile(const BlockSearch& search, const SumsView& sums, Tile tile, BestCandidate best) {
  alignas(64) std::uint8_t octets[kTileRows * kTileOctets + 64];
  const int count = list_octets(search, sums, tile, best, octets);
  if (count == 0) return best;
  if (8 * count > 7 * kTileOctets * tile.rows) {  // next to nothing is ruled out, and rows that share loads are cheaper
    BlockSearch part = search;
    part.window = {tile.left, tile.top, tile.left + tile.columns, tile.top + tile.rows};
    const BestCandidate found = search_brute(part);
    return is_better(found, best) ? found : best;
  }
  const std::uint32_t last = octets[count - 1] * 0x01010101U;  // the last one again, so that they come in fours
  __builtin_memcpy(octets + count, &last, sizeof last);
  const BestCandidate found = search_octets(search, tile, octets, count);
  return is_better(found, best) ? found : best;
}

}  // namespace

BestCandidate search_eliminating(const BlockSearch& search, const SumsView& sums, std::span<const Position> starts) {
  const SearchWindow& window = search.window;
  if (window.right - window.left < kOctet) return search_brute(search);
  BestCandidate best{.sad = UINT32_MAX};
  for (std::size_t i = 0; i < starts.size(); i += kStarts) {
    const auto start = [&](std::size_t j) -> const Position& { return starts[std::min(i + j, starts.size() - 1)]; };
    const BestCandidate found = best_of_starts(search, start(0), start(1), start(2), start(3));
    if (is_better(found, best)) best = found;
  }
  for (int top = window.top; top < window.bottom; top += kTileRows) {
    for (int x = window.left; x < window.right;) {
      const int left = std::min(x, window.right - kOctet);  // the last octet may overlap the one before
      const int columns = std::min(kTileColumns, (window.right - left) / kOctet * kOctet);
      const Tile tile{left, top, columns, std::min(kTileRows, window.bottom - top)};
      best = search_tile(search, sums, tile, best);
      x = left + columns;
    }
  }
  return best;
}

}  // namespace c63::cpu::avx512

#endif
