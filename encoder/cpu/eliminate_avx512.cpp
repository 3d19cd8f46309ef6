#if defined(C63_SIMD_X86)

// Full search with AVX-512 that skips candidates. If the sums of 4x4 samples prove that a candidate is worse than one
// already known, its SAD is not computed.
//
// Candidates are grouped in octets: eight neighbours in a row. A first step finds the octets in which a candidate is
// left. It tests 32 candidates of a row at a time, without a branch. A second step computes the SADs of those octets,
// four at a time. That pays because the candidates that are left lie close together, and an octet costs little more
// than one candidate. Each step is a function that is not inlined, because it needs all registers.

#include <algorithm>
#include <bit>

#include "cpu/kernels_avx512.h"
#include "cpu/octets_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// Returns the best candidate of four octets. Each has one of the starts in its middle, if the window allows that.
[[gnu::noinline]] BestCandidate best_of_starts(const BlockSearch& search, const Position& a, const Position& b,
                                               const Position& c, const Position& d) {
  const BlockRows block(search);
  const SearchWindow& window = search.window;
  Position first[kTogether];
  const auto octet_around = [&](const Position& start, Position& at) __attribute__((always_inline)) {
    int x = start.x;
    asm("" : "+r"(x));  // read separately, as they were written; one wide load would stall
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

/// Lists the octets of a tile in which a candidate is left, in raster order. Returns their number.
[[gnu::noinline]] int list_octets(const BlockSearch& search, const SumsView& view, const Tile& tile,
                                  const BestCandidate& best, std::uint8_t* octets) {
  const Quarters quarters(search);
  const auto valid = static_cast<__mmask32>(low_bits(tile.columns));
  const std::uint16_t* sums = view.at(tile.left, tile.top);
  // The lower sums of a row are the upper sums of the row four below it. Rows past the end of the tile are tested, too;
  // their octets are then removed from the list.
  SumRow above[4] = {SumRow(sums), SumRow(sums + view.pitch), SumRow(sums + 2 * view.pitch),
                     SumRow(sums + 3 * view.pitch)};
  int count = 0;
  std::uint64_t numbers = 0x0706050403020100;
  for (int row = 0; row < tile.rows; row += 4) {
    // A candidate that comes before `best` in raster order wins if its SAD is equal.
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

/// Returns the best candidate of the listed octets. `count` must be a multiple of four.
[[gnu::noinline]] BestCandidate search_octets(const BlockSearch& search, const Tile& tile, const std::uint8_t* octets,
                                              int count) {
  const BlockRows block(search);
  const std::uint8_t* const reference = &search.reference.at(tile.left, tile.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  const auto samples_of = [&](int octet) {
    return reference + octet / kTileOctets * pitch + octet % kTileOctets * kOctet;
  };
  __m512i sads = all(0xFFFF);
  __m512i found = all(0);  // for each place of the register, where in the list the octet with the least SAD is
  for (int i = 0; i < count; i += 4) {
    const __m512i some = sads_of_octets(block, samples_of(octets[i]), samples_of(octets[i + 1]),
                                        samples_of(octets[i + 2]), samples_of(octets[i + 3]), pitch);
    const __mmask32 less = _mm512_cmplt_epu16_mask(some, sads);
    sads = _mm512_min_epu16(some, sads);
    found = _mm512_mask_mov_epi16(found, less, all(i));
  }
  // The list is in raster order, so of equal SADs the first one wins.
  const int sad = smallest(sads);
  const __mmask32 equal = _mm512_cmpeq_epi16_mask(sads, all(sad));
  const __m512i places = _mm512_add_epi16(_mm512_slli_epi16(found, 3), _mm512_load_si512(kWordNumbers.data()));
  const int place = smallest(_mm512_mask_mov_epi16(all(0xFFFF), equal, places));
  const int octet = octets[place / kOctet];
  return {tile.left + octet % kTileOctets * kOctet + place % kOctet, tile.top + octet / kTileOctets,
          static_cast<std::uint32_t>(sad)};
}

/// Returns `best` or the best candidate of a tile, whichever is better.
BestCandidate search_tile(const BlockSearch& search, const SumsView& sums, Tile tile, BestCandidate best) {
  alignas(64) std::uint8_t octets[kTileRows * kTileOctets + 64];
  const int count = list_octets(search, sums, tile, best, octets);
  if (count == 0) return best;
  // If hardly any octet is ruled out, the plain search is faster, because its rows share loads.
  if (8 * count > 7 * kTileOctets * tile.rows) {
    BlockSearch part = search;
    part.window = {tile.left, tile.top, tile.left + tile.columns, tile.top + tile.rows};
    const BestCandidate found = search_brute(part);
    return is_better(found, best) ? found : best;
  }
  // Copies of the last octet fill up the list to a multiple of four octets.
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
