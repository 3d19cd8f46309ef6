#if defined(C63_SIMD_X86)

// Full search with AVX-512. It leaves out candidates if the sums of 4x4 samples prove that they are worse than one
// already known.
//
// Candidates are taken in octets: eight neighbours of a row. A first step finds the octets that have a candidate left,
// 32 candidates of a row at a time and without a branch. A second step searches those octets, four at a time: survivors
// are close together, and an octet costs little more than one candidate. Each step is a function that is not inlined,
// because it needs all registers.

#include <algorithm>
#include <bit>

#include "cpu/kernels_avx512.h"
#include "cpu/octets_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// The best candidate of the octets with these candidates in their middle, if the window allows it.
[[gnu::noinline]] BestCandidate best_of_starts(const BlockSearch& search, const Position& a, const Position& b,
                                               const Position& c, const Position& d) {
  const BlockRows block(search);
  const SearchWindow& window = search.window;
  Position first[kTogether];
  const auto octet_around = [&](const Position& start, Position& at) __attribute__((always_inline)) {
    int x = start.x;
    asm("" : "+r"(x));  // one by one, as they were written; reading them as a vector would have to wait
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

/// Lists the octets of a tile that have a candidate left, in raster order. Returns their number.
[[gnu::noinline]] int list_octets(const BlockSearch& search, const SumsView& view, const Tile& tile,
                                  const BestCandidate& best, std::uint8_t* octets) {
  const Quarters quarters(search);
  const auto valid = static_cast<__mmask32>(low_bits(tile.columns));
  const std::uint16_t* sums = view.at(tile.left, tile.top);
  // The lower sums of one row are the upper sums of the fourth row after it. Rows past the tile are tested, too, and
  // then removed from the list.
  SumRow above[4] = {SumRow(sums), SumRow(sums + view.pitch), SumRow(sums + 2 * view.pitch),
                     SumRow(sums + 3 * view.pitch)};
  int count = 0;
  std::uint64_t numbers = 0x0706050403020100;
  for (int row = 0; row < tile.rows; row += 4) {
    // Before the best known candidate in raster order, an equally good one would win.
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

/// The best candidate of the listed octets. Their number is a multiple of four.
[[gnu::noinline]] BestCandidate search_octets(const BlockSearch& search, const Tile& tile, const std::uint8_t* octets,
                                              int count) {
  const BlockRows block(search);
  const std::uint8_t* const reference = &search.reference.at(tile.left, tile.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  const auto samples_of = [&](int octet) {
    return reference + octet / kTileOctets * pitch + octet % kTileOctets * kOctet;
  };
  __m512i sads = all(0xFFFF);
  __m512i found = all(0);  // the place of the four octets in the list
  for (int i = 0; i < count; i += 4) {
    const __m512i some = sads_of_octets(block, samples_of(octets[i]), samples_of(octets[i + 1]),
                                        samples_of(octets[i + 2]), samples_of(octets[i + 3]), pitch);
    const __mmask32 less = _mm512_cmplt_epu16_mask(some, sads);
    sads = _mm512_min_epu16(some, sads);
    found = _mm512_mask_mov_epi16(found, less, all(i));
  }
  // The list is in raster order, so of equal SADs the first counts.
  const int sad = smallest(sads);
  const __mmask32 equal = _mm512_cmpeq_epi16_mask(sads, all(sad));
  const __m512i places = _mm512_add_epi16(_mm512_slli_epi16(found, 3), _mm512_load_si512(kWordNumbers.data()));
  const int place = smallest(_mm512_mask_mov_epi16(all(0xFFFF), equal, places));
  const int octet = octets[place / kOctet];
  return {tile.left + octet % kTileOctets * kOctet + place % kOctet, tile.top + octet / kTileOctets,
          static_cast<std::uint32_t>(sad)};
}

/// The better one of `best` and the candidates of a tile.
BestCandidate search_tile(const BlockSearch& search, const SumsView& sums, Tile tile, BestCandidate best) {
  alignas(64) std::uint8_t octets[kTileRows * kTileOctets + 64];
  const int count = list_octets(search, sums, tile, best, octets);
  if (count == 0) return best;
  if (8 * count > 7 * kTileOctets * tile.rows) {  // almost nothing is ruled out, and rows that share loads are cheaper
    BlockSearch part = search;
    part.window = {tile.left, tile.top, tile.left + tile.columns, tile.top + tile.rows};
    const BestCandidate found = search_brute(part);
    return is_better(found, best) ? found : best;
  }
  // the last one again, to make the number a multiple of four
  const std::uint32_t last = octets[count - 1] * 0x01010101U;
  __builtin_memcpy(octets + count, &last, sizeof last);
  const BestCandidate found = search_octets(search, tile, octets, count);
  return is_better(found, best) ? found : best;
}

}  // namespace

BestCandidate search_eliminating(const BlockSearch& search, const SumsView& sums, std::span<const Position> starts) {
  const SearchWindow& window = search.window;
  if (window.right - window.left < kOctet) return search_brute(search);
  BestCandidate best{.sad = UINT32_MAX};
  for (std::size_t i = 0; i < starts.size(); i += kTogether) {
    const auto start = [&](std::size_t j) -> const Position& { return starts[std::min(i + j, starts.size() - 1)]; };
    const BestCandidate found = best_of_starts(search, start(0), start(1), start(2), start(3));
    if (is_better(found, best)) best = found;
  }
  for (int top = window.top; top < window.bottom; top += kTileRows) {
    for (int x = window.left; x < window.right;) {
      const int left = std::min(x, window.right - kOctet);  // the last octet may overlap the previous one
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
