#if defined(C63_SIMD_X86)

// Full search with AVX-512 that skips candidates. If the sums of 4x4 samples prove that a candidate is worse than one
// already known, its SAD need not be computed.
//
// Candidates are taken in octets: eight neighbours of a row. The first step searches the octets around the four starts
// (StartedSearch). The second step finds the octets with at least one candidate that its sums do not rule out. It tests
// 32 candidates of a row at a time, without a branch. The third step searches those octets: such candidates are close
// together, and an octet costs little more than one candidate. Each step is done for several blocks before the next
// one, so that no block waits for another's result. Each step is a function that is not inlined, because it needs all
// registers.
//
// Most blocks that do not move are equal to their first start. Then all that is left is to prove that no candidate
// before it is equal, too. On 1920x1080 frames of objects this saves a quarter of c63mv's time without decoding, on a
// Xeon.

#include <algorithm>
#include <bit>

#include "cpu/kernels_avx512.h"
#include "cpu/octets_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// Returns the best candidate of four octets. The first octet is the one that contains `a`, if octets are counted from
/// the left of the window. The others have `b`, `c` and `d` in their middle, if the window allows it.
[[gnu::noinline]] BestCandidate best_of_starts(const BlockSearch& search, const Position& a, const Position& b,
                                               const Position& c, const Position& d) {
  const BlockRows block(search);
  const SearchWindow& window = search.window;
  Position first[kTogether];
  const auto samples_at = [&](Position& at, int x, int y) __attribute__((always_inline)) {
    at = {std::min(x, window.right - kOctet), y};
    return &search.reference.at(at.x, at.y);
  };
  const auto octet_around = [&](const Position& start, Position& at) __attribute__((always_inline)) {
    int x = start.x;
    asm("" : "+r"(x));  // x and y were just written, one by one; reading them as one vector would wait for that
    return samples_at(at, std::max(x - kOctet / 2, window.left), start.y);
  };
  const std::uint8_t* const counted = samples_at(first[0], window.left + (a.x - window.left) / kOctet * kOctet, a.y);
  const __m512i sads = sads_of_octets(block, counted, octet_around(b, first[1]), octet_around(c, first[2]),
                                      octet_around(d, first[3]), search.reference.pitch);
  const int sad = smallest(sads);
  const auto place = static_cast<unsigned>(std::countr_zero(_cvtmask32_u32(_mm512_cmpeq_epi16_mask(sads, all(sad)))));
  const Position at = first[place / kOctet];
  return {at.x + static_cast<int>(place % kOctet), at.y, static_cast<std::uint32_t>(sad)};
}

/// Returns true if the candidate has the samples of the block.
bool is_equal(const BlockSearch& search, const Position& candidate) {
  const std::uint8_t* const samples = &search.reference.at(candidate.x, candidate.y);
  for (std::ptrdiff_t y = 0; y < kBlockSize; ++y) {
    const std::uint8_t* const row = search.current + y * search.current_pitch;
    if (__builtin_memcmp(row, samples + y * search.reference.pitch, kBlockSize) != 0) return false;
  }
  return true;
}

/// For each byte value, the positions of its set bits, lowest first. An entry has one position in each of its bytes.
constexpr std::array<std::uint64_t, 256> places_of_bits() {
  std::array<std::uint64_t, 256> all_places{};
  for (std::size_t bits = 0; bits < all_places.size(); ++bits) {
    std::uint64_t places = 0;
    int count = 0;
    for (std::uint64_t bit = 0; bit < 8; ++bit) {
      if ((bits >> bit & 1U) != 0) places |= bit << 8 * count++;
    }
    all_places[bits] = places;
  }
  return all_places;
}
alignas(64) constexpr std::array<std::uint64_t, 256> kPlacesOfBits = places_of_bits();

constexpr int kAllOctets = -1;

/// Lists the octets of a tile with at least one candidate whose sums do not prove that its SAD is above `sad`. The list
/// is in raster order. Returns its length, or kAllOctets if `sad` rules out none. No 512-bit register is used: while
/// such instructions run, a third of the CPU's vector units are idle.
[[gnu::noinline]] int list_octets(const StartedSearch& search, const QuarterSumsView& view, const Tile& tile,
                                  std::uint32_t sad, std::uint8_t* octets) {
  const int limit = sad == 0 ? 0 : quarter_limit(static_cast<int>(sad));  // equal samples have equal sums
  if (limit == kNoQuarterLimit) return kAllOctets;
  const Quarters quarters(search);
  const __m256i above_limit = _mm256_set1_epi8(static_cast<char>(limit + 1));
  const unsigned valid = (1U << tile.columns / kOctet) - 1U;
  const unsigned valid_of_two = valid << kTileOctets | valid;
  const std::uint8_t* sums = view.at(tile.left, tile.top);
  // The sums of a candidate's lower half are those of the upper half of the candidate four rows below. Rows past the
  // tile are tested, too, and then removed from the list.
  QuarterRow above[4] = {QuarterRow(sums), QuarterRow(sums + view.pitch), QuarterRow(sums + 2 * view.pitch),
                         QuarterRow(sums + 3 * view.pitch)};
  sums += 4 * view.pitch;
  int count = 0;
  std::uint64_t first = 0;  // the number of the first octet of two rows, in each byte
  for (int row = 0; row < tile.rows; row += 4) {
    unroll<2>([&](auto pair) __attribute__((always_inline)) {
      unsigned kept = 0;  // a bit for each octet
      unroll<2>([&](auto half) __attribute__((always_inline)) {
        const QuarterRow below(sums);
        sums += view.pitch;
        const __m256i room = _mm256_subs_epu8(above_limit, quarters.bounds(above[2 * pair + half], below));
        kept |= static_cast<unsigned>(_cvtmask8_u32(_mm256_test_epi64_mask(room, room))) << kTileOctets * half;
        above[2 * pair + half] = below;
      });
      kept &= valid_of_two;
      const std::uint64_t listed = kPlacesOfBits[kept] + first;
      __builtin_memcpy(octets + count, &listed, sizeof listed);
      count += std::popcount(kept);
      first += kRowPair;
    });
  }
  while (count > 0 && octets[count - 1] >= kTileOctets * tile.rows) --count;
  return count;
}

/// Returns false if quarter sums prove that no candidate before `best` is equal to the block. The window is one tile.
/// Takes about a third of the time of list_octets(), because it needs two sums of a candidate, no distance and no list.
[[gnu::noinline]] bool may_be_equal_before(const StartedSearch& search, const QuarterSumsView& view,
                                           const BestCandidate& best) {
  const SearchWindow& window = search.window;
  const Quarters quarters(search);
  // A candidate's byte is 0 if its top left and bottom right sums are those of the block.
  const auto difference = [&](const std::uint8_t* sums) __attribute__((always_inline)) {
    constexpr int kOrXor = 0xF6;  // a | (b ^ c)
    const __m256i top = _mm256_xor_si256(QuarterRow(sums).left, quarters.top_left);
    return _mm256_ternarylogic_epi32(top, QuarterRow(sums + 4 * view.pitch).right, quarters.bottom_right, kOrXor);
  };
  const auto has_equal = [](__m256i differences, int count) __attribute__((always_inline)) {
    return (_cvtmask32_u32(_mm256_testn_epi8_mask(differences, differences)) & low_bits(count)) != 0;
  };
  const std::uint8_t* sums = view.at(window.left, window.top);
  __m256i least = _mm256_set1_epi8(-1);
#pragma GCC unroll 4
  for (int y = window.top; y < best.y; ++y, sums += view.pitch) least = _mm256_min_epu8(least, difference(sums));
  return has_equal(least, window.right - window.left) || has_equal(difference(sums), best.x - window.left);
}

/// For each of the 32 positions in registers of four octets, the smallest SAD so far, and the first register that has
/// it. Registers are numbered by the list index of their first octet.
struct OctetMinima {
  __m512i sads = all(0xFFFF);
  __m512i found = all(0);

  [[gnu::always_inline]] void take(__m512i some, int number) {
    const __mmask32 less = _mm512_cmplt_epu16_mask(some, sads);
    sads = _mm512_min_epu16(some, sads);
    found = _mm512_mask_mov_epi16(found, less, all(number));
  }
};

/// Returns the best candidate of the listed octets. Overwrites the four entries after the list.
[[gnu::noinline]] BestCandidate search_octets(const BlockSearch& search, const Tile& tile, std::uint8_t* octets,
                                              int count) {
  // Copies of the last octet fill up the list to a multiple of four octets.
  const std::uint32_t last = octets[count - 1] * 0x01010101U;
  __builtin_memcpy(octets + count, &last, sizeof last);
  const BlockRows block(search);
  const std::uint8_t* const reference = &search.reference.at(tile.left, tile.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  const auto samples_of = [&](int octet) {
    return reference + octet / kTileOctets * pitch + octet % kTileOctets * kOctet;
  };
  OctetMinima minima;
  for (int i = 0; i < count; i += kTogether) {
    const std::uint8_t* const four = octets + i;
    minima.take(sads_of_octets(block, samples_of(four[0]), samples_of(four[1]), samples_of(four[2]), samples_of(four[3]),
                               pitch),
                i);
  }
  // The list is in raster order, so if several candidates have the least SAD, the first one in the list is the result.
  const int sad = smallest(minima.sads);
  const __mmask32 equal = _mm512_cmpeq_epi16_mask(minima.sads, all(sad));
  const __m512i places = _mm512_add_epi16(_mm512_slli_epi16(minima.found, 3), _mm512_load_si512(kWordNumbers.data()));
  const int place = smallest(_mm512_mask_mov_epi16(all(0xFFFF), equal, places));
  const int octet = octets[place / kOctet];
  return {tile.left + octet % kTileOctets * kOctet + place % kOctet, tile.top + octet / kTileOctets,
          static_cast<std::uint32_t>(sad)};
}

constexpr std::size_t kMostListed = std::size_t{kTileRows} * kTileOctets + 64;

/// Returns the better one of `best` and the best candidate of the listed octets.
BestCandidate search_listed(const BlockSearch& search, const Tile& tile, std::uint8_t* octets, int count,
                            const BestCandidate& best) {
  if (count == 0) return best;
  BestCandidate found;
  if (count == kAllOctets || 8 * count > 7 * kTileOctets * tile.rows) {
    // If most octets are left, search_brute() is cheaper: it loads each row of samples once for eight rows of
    // candidates.
    BlockSearch part = search;
    part.window = {tile.left, tile.top, tile.left + tile.columns, tile.top + tile.rows};
    found = search_brute(part);
  } else {
    found = search_octets(search, tile, octets, count);
  }
  return is_better(found, best) ? found : best;
}

/// Searches a window of any size, tile by tile.
BestCandidate search_tiles(const StartedSearch& search, const QuarterSumsView& sums, BestCandidate best) {
  alignas(64) std::uint8_t octets[kMostListed];
  const SearchWindow& window = search.window;
  for (int top = window.top; top < window.bottom; top += kTileRows) {
    for (int x = window.left; x < window.right;) {
      const int left = std::min(x, window.right - kOctet);  // the last octet may overlap the one before
      const int columns = std::min(kTileColumns, (window.right - left) / kOctet * kOctet);
      const Tile tile{left, top, columns, std::min(kTileRows, window.bottom - top)};
      const int count = list_octets(search, sums, tile, best.sad, octets);
      best = search_listed(search, tile, octets, count, best);
      x = left + columns;
    }
  }
  return best;
}

bool is_one_tile(const SearchWindow& window) {
  const int columns = window.right - window.left;
  return columns <= kTileColumns && columns % kOctet == 0 && window.bottom - window.top <= kTileRows;
}

/// search_some() does search_eliminating() for at most kBlocks blocks.
constexpr std::size_t kBlocks = 8;
void search_some(std::span<const StartedSearch> blocks, const QuarterSumsView& sums, BestCandidate* best) {
  alignas(64) std::uint8_t octets[kBlocks][kMostListed];
  Tile tiles[kBlocks];
  int counts[kBlocks] = {};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& starts = blocks[i].starts;
    const bool has_octets = blocks[i].window.right - blocks[i].window.left >= kOctet;
    best[i] = !has_octets                      ? search_brute(blocks[i])
              : is_equal(blocks[i], starts[0]) ? BestCandidate{starts[0].x, starts[0].y, 0}
                                               : best_of_starts(blocks[i], starts[0], starts[1], starts[2], starts[3]);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const SearchWindow& window = blocks[i].window;
    if (!is_one_tile(window)) continue;
    if (best[i].sad == 0) {
      // Only an equal candidate before it is better. In a flat area, the first candidate of the window often is equal.
      const bool is_flat = is_equal(blocks[i], {window.left, window.top});
      if (is_flat) best[i] = {window.left, window.top, 0};
      if (is_flat || !may_be_equal_before(blocks[i], sums, best[i])) continue;
    }
    const int bottom = best[i].sad == 0 ? best[i].y + 1 : window.bottom;
    tiles[i] = {window.left, window.top, window.right - window.left, bottom - window.top};
    counts[i] = list_octets(blocks[i], sums, tiles[i], best[i].sad, octets[i]);
    // Often the only octet left is that of the first start. best_of_starts() has searched it, except for a block that is
    // equal there.
    const Position start = blocks[i].starts[0];
    const int known = kTileOctets * (start.y - window.top) + (start.x - window.left) / kOctet;
    if (best[i].sad != 0 && counts[i] == 1 && octets[i][0] == known) counts[i] = 0;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (is_one_tile(blocks[i].window)) {
      best[i] = search_listed(blocks[i], tiles[i], octets[i], counts[i], best[i]);
    } else if (blocks[i].window.right - blocks[i].window.left >= kOctet) {
      best[i] = search_tiles(blocks[i], sums, best[i]);
    }
  }
}

}  // namespace

void search_eliminating(std::span<const StartedSearch> blocks, const QuarterSumsView& sums, BestCandidate* best) {
  for (; !blocks.empty(); blocks = blocks.subspan(std::min(kBlocks, blocks.size()))) {
    search_some(blocks.first(std::min(kBlocks, blocks.size())), sums, best);
    best += std::min(kBlocks, blocks.size());
  }
}

}  // namespace c63::cpu::avx512

#endif
