#if defined(C63_SIMD_X86)

// Finds the best few candidates by SAD plus vector cost, with AVX-512. As in eliminate_avx512.cpp, sums of 4x4 samples
// and the costs first rule out octets that cannot have one of the best candidates. The other octets are searched, four
// at a time. In most cases the window is no wider than the 32 candidates of a register, and only one or two candidates
// are wanted; they are found without a branch.

#include <algorithm>
#include <bit>

#include "cpu/best_keys.h"
#include "cpu/columns_avx512.h"
#include "cpu/decision_kernels_avx512.h"
#include "cpu/octets_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// Returns the costs of the candidate at (x, y) and of those to its right.
[[gnu::always_inline]] inline const std::uint16_t* costs_from(const CostedSearch& search, int x, int y) {
  return search.costs + (y - search.window.top) * search.cost_pitch + (x - search.window.left);
}

/// Returns the costs of the candidates of four octets.
[[gnu::always_inline]] inline __m512i costs_of_octets(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c,
                                                      const std::uint16_t* d) {
  const auto eight = [](const std::uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  __m512i costs = _mm512_castsi128_si512(eight(a));
  costs = _mm512_mask_broadcast_i64x2(costs, 0x0C, eight(b));
  costs = _mm512_mask_broadcast_i64x2(costs, 0x30, eight(c));
  return _mm512_mask_broadcast_i64x2(costs, 0xC0, eight(d));
}

/// Returns SAD plus cost of the candidates of four octets, which begin at `first`.
[[gnu::always_inline]] inline __m512i costed_sads(const CostedSearch& search, const BlockRows& block,
                                                  const Position (&first)[kTogether]) {
  const auto samples = [&](int i) { return &search.reference.at(first[i].x, first[i].y); };
  const auto costs = [&](int i) { return costs_from(search, first[i].x, first[i].y); };
  const __m512i sads = sads_of_octets(block, samples(0), samples(1), samples(2), samples(3), search.reference.pitch);
  return _mm512_add_epi16(sads, costs_of_octets(costs(0), costs(1), costs(2), costs(3)));
}

/// Sets `first` to the octets that have the starts in their middle, if the window allows that. Returns SAD plus cost of
/// their candidates.
[[gnu::always_inline]] inline __m512i costed_sads_of_starts(const CostedSearch& search, const BlockRows& block,
                                                            Position (&first)[kTogether]) {
  static_assert(kTogether == kStarts);
  const SearchWindow& window = search.window;
  for (std::size_t i = 0; i < kStarts; ++i) {
    first[i] = {std::clamp(search.starts[i].x - kOctet / 2, window.left, window.right - kOctet), search.starts[i].y};
  }
  return costed_sads(search, block, first);
}

/// Lists the octets of a tile with at least one candidate whose cost may be `limit` or less, in raster order. Returns
/// their number.
[[gnu::noinline]] int list_octets(const CostedSearch& search, const QuarterSumsView& view, const Tile& tile, int limit,
                                  std::uint8_t* octets) {
  const Quarters quarters(search);
  const __m256i most = _mm256_set1_epi8(static_cast<char>(quarter_limit(limit)));
  const auto valid = static_cast<__mmask32>(low_bits(tile.columns));
  const std::uint8_t* costs =
      search.quarters + (tile.top - search.window.top) * search.cost_pitch + (tile.left - search.window.left);
  const std::uint8_t* sums = view.at(tile.left, tile.top);
  QuarterRow above[4] = {QuarterRow(sums), QuarterRow(sums + view.pitch), QuarterRow(sums + 2 * view.pitch),
                         QuarterRow(sums + 3 * view.pitch)};
  int count = 0;
  std::uint64_t numbers = 0x0706050403020100;
  for (int row = 0; row < tile.rows; row += 4) {
    sums += 4 * view.pitch;
    __mmask32 kept[4];
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      const QuarterRow below(sums + i * view.pitch);
      const __m256i bound = quarters.bounds(above[i], below);
      const bool inside = row + i < tile.rows;
      const __m256i added = QuarterRow::load(inside ? costs + i * search.cost_pitch : costs);
      kept[i] = _mm256_mask_cmple_epu8_mask(inside ? valid : 0, _mm256_adds_epu8(bound, added), most);
      above[i] = below;
    });
    costs += 4 * search.cost_pitch;
    unroll<2>([&](auto i) __attribute__((always_inline)) {
      count += list_octets_of(kept[2 * i], kept[2 * i + 1], numbers, octets + count);
      numbers += kRowPair;
    });
  }
  return count;
}

// ---- the best one or two candidates of a window that is no wider than a register

/// Receives registers of costs, each with a number. For each position in a register, it keeps the kBest (one or two)
/// lowest costs of all registers, and the numbers of the registers that have them. Of equal costs, it keeps the one
/// that came first.
template <std::size_t kBest>
class BestOfPlaces {
 public:
  [[gnu::always_inline]] void take(__m512i costs, int number) {
    const __m512i numbers = all(number);
    const __mmask32 best = _mm512_cmplt_epu16_mask(costs, first_);
    if constexpr (kBest > 1) {
      const __mmask32 good = _mm512_cmplt_epu16_mask(costs, second_);
      second_ = _mm512_min_epu16(second_, _mm512_max_epu16(first_, costs));
      second_numbers_ = _mm512_mask_mov_epi16(_mm512_mask_mov_epi16(second_numbers_, good, numbers), best, first_numbers_);
    }
    first_ = _mm512_min_epu16(first_, costs);
    first_numbers_ = _mm512_mask_mov_epi16(first_numbers_, best, numbers);
  }

  /// Writes the keys of the best kBest candidates, best first. Only positions in `valid` count. Of candidates with
  /// equal costs, the one with the lower order(register number) is better, and of those the one at the lower position.
  /// index_of(order, position) returns the index of a candidate.
  template <typename Order, typename IndexOf>
  [[gnu::always_inline]] void write(__mmask32 valid, Order&& order, IndexOf&& index_of, std::span<std::uint32_t> keys) {
    for (std::size_t i = 0; i < kBest; ++i) {
      const int cost = smallest(_mm512_mask_mov_epi16(all(0xFFFF), valid, first_));
      if (cost == 0xFFFF) return;
      const __mmask32 equal = _mm512_mask_cmpeq_epu16_mask(valid, first_, all(cost));
      const __m512i orders = order(first_numbers_);
      const int least = smallest(_mm512_mask_mov_epi16(all(0xFFFF), equal, orders));
      const std::uint32_t places = _cvtmask32_u32(_mm512_mask_cmpeq_epu16_mask(equal, orders, all(least)));
      keys[i] = candidate_key(static_cast<std::uint32_t>(cost), static_cast<std::uint32_t>(index_of(least, std::countr_zero(places))));
      if constexpr (kBest > 1) {
        const auto taken = static_cast<__mmask32>(places & -places);
        first_ = _mm512_mask_mov_epi16(first_, taken, second_);
        first_numbers_ = _mm512_mask_mov_epi16(first_numbers_, taken, second_numbers_);
      }
    }
  }

 private:
  __m512i first_ = all(0xFFFF);
  __m512i first_numbers_ = all(0);
  __m512i second_ = all(0xFFFF);
  __m512i second_numbers_ = all(0);
};

/// Loads one row of costs for a register of candidates.
[[gnu::always_inline]] inline __m512i costs_of_row(const OneRow&, const CostedSearch& search, int row) {
  return _mm512_loadu_si512(search.costs + row * search.cost_pitch);
}
[[gnu::always_inline]] inline __m512i costs_of_row(const TwoRows& shape, const CostedSearch& search, int row) {
  const auto half = [&](int y) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(search.costs + y * search.cost_pitch));
  };
  return _mm512_inserti64x4(_mm512_castsi256_si512(half(row)), half(row + shape.rows), 1);
}

template <std::size_t kBest, typename Shape>
[[gnu::noinline]] void search_columns(const CostedSearch& search, Shape shape, int rows, std::span<std::uint32_t> keys) {
  struct Minima {
    const CostedSearch& search;
    const Shape& shape;
    BestOfPlaces<kBest> best = {};
    [[gnu::always_inline]] void take(__m512i sads, int row) {
      best.take(_mm512_add_epi16(sads, costs_of_row(shape, search, row)), row);
    }
  };
  const SearchWindow& window = search.window;
  const int columns = window.right - window.left;
  const BlockRows block(search);
  Minima minima{search, shape};
  search_rows(shape, block, &search.reference.at(window.left, window.top), search.reference.pitch, rows, minima);
  minima.best.write(
      shape.valid(columns), [&](__m512i numbers) { return shape.true_rows(numbers); },
      [&](int row, int place) { return row * columns + place % Shape::kColumns; }, keys);
}

/// Searches all candidates of the window, without ruling any out.
template <std::size_t kBest>
void search_all(const CostedSearch& search, std::span<std::uint32_t> keys) {
  const int rows = search.window.bottom - search.window.top;
  std::ranges::fill(keys, UINT32_MAX);
  if (search.window.right - search.window.left <= TwoRows::kColumns && rows % 2 == 0) {
    search_columns<kBest>(search, TwoRows{rows / 2, search.reference.pitch}, rows / 2, keys);
  } else {
    search_columns<kBest>(search, OneRow{}, rows, keys);
  }
}

/// Searches the octets around the starts, and returns a limit for the whole search: at least kBest candidates of the
/// window cost no more than this.
template <std::size_t kBest>
[[gnu::noinline]] int limit_of_starts(const CostedSearch& search) {
  const BlockRows block(search);
  Position first[kTogether];
  __m512i costs = costed_sads_of_starts(search, block, first);
  int limit = smallest(costs);
  for (std::size_t i = 1; i < kBest; ++i) {  // octets may overlap, so equal costs count once
    costs = _mm512_mask_mov_epi16(costs, _mm512_cmpeq_epi16_mask(costs, all(limit)), all(-1));
    limit = smallest(costs);
  }
  return limit;
}

/// Searches the listed octets of a tile. The tile begins `out_of_range` columns to the left of the window.
template <std::size_t kBest>
[[gnu::noinline]] void search_listed(const CostedSearch& search, int out_of_range, const std::uint8_t* octets, int count,
                                     std::span<std::uint32_t> keys) {
  const BlockRows block(search);
  const SearchWindow& window = search.window;
  const std::uint8_t* const samples = &search.reference.at(window.left - out_of_range, window.top);
  const std::uint16_t* const all_costs = search.costs - out_of_range;
  const std::ptrdiff_t pitch = search.reference.pitch;
  const auto row_of = [](int octet) { return octet / kTileOctets; };
  const auto column_of = [](int octet) { return octet % kTileOctets * kOctet; };
  const auto samples_of = [&](int octet) { return samples + row_of(octet) * pitch + column_of(octet); };
  const auto costs_of = [&](int octet) { return all_costs + row_of(octet) * search.cost_pitch + column_of(octet); };
  BestOfPlaces<kBest> best;
  for (int i = 0; i < count; i += kTogether) {
    const std::uint8_t* const four = octets + i;
    const __m512i sads = sads_of_octets(block, samples_of(four[0]), samples_of(four[1]), samples_of(four[2]),
                                        samples_of(four[3]), pitch);
    __m512i costs = _mm512_add_epi16(sads, costs_of_octets(costs_of(four[0]), costs_of(four[1]), costs_of(four[2]),
                                                           costs_of(four[3])));
    // The list may end with copies of its last octet. Their candidates must not count as second best ones.
    if constexpr (kBest > 1) costs = _mm512_mask_mov_epi16(all(-1), low_bits(kOctet * (count - i)), costs);
    best.take(costs, i);
  }
  const int width = window.right - window.left;
  best.write(
      0xFFFFFFFFU, [](__m512i numbers) { return numbers; },
      [&](int i, int place) {
        const int octet = octets[i + place / kOctet];
        return row_of(octet) * width + column_of(octet) - out_of_range + place % kOctet;
      },
      keys);
}

/// Returns the number of columns that must be added on the left of a narrow window so that whole octets cover it.
/// Negative if the plane does not have these columns, or if the window is higher than a tile.
[[gnu::always_inline]] inline int columns_out_of_range(const SearchWindow& window) {
  const int columns = (window.left - window.right) & (kOctet - 1);
  return columns > window.left || window.bottom - window.top > kTileRows ? -1 : columns;
}

/// Searches blocks whose windows are no wider than a register. Each stage processes all blocks, so that no block waits
/// for another's result.
template <std::size_t kBest>
void search_narrow(std::span<const CostedSearch> blocks, const QuarterSumsView& sums) {
  constexpr std::size_t kBlocks = 8;
  int limits[kBlocks];
  int counts[kBlocks];
  alignas(64) std::uint8_t octets[kBlocks][kTileRows * kTileOctets + 64];
  for (; !blocks.empty(); blocks = blocks.subspan(std::min(kBlocks, blocks.size()))) {
    const auto some = blocks.first(std::min(kBlocks, blocks.size()));
    for (std::size_t b = 0; b < some.size(); ++b) limits[b] = limit_of_starts<kBest>(some[b]);
    for (std::size_t b = 0; b < some.size(); ++b) {
      const SearchWindow& window = some[b].window;
      const int more = columns_out_of_range(window);
      const Tile tile{window.left - more, window.top, window.right - window.left + more, window.bottom - window.top};
      counts[b] = more < 0 ? -1 : list_octets(some[b], sums, tile, limits[b], octets[b]);
      // If most candidates are left, search_all() is faster: it loads each row of samples once for eight rows of
      // candidates.
      if (8 * kOctet * counts[b] > 5 * tile.columns * tile.rows) counts[b] = -1;
    }
    for (std::size_t b = 0; b < some.size(); ++b) {
      const std::span<std::uint32_t> keys(some[b].keys, kBest);
      if (counts[b] < 0) {
        search_all<kBest>(some[b], keys);
        continue;
      }
      // Copies of the last octet fill up the list to a multiple of four octets.
      const std::uint32_t last = octets[b][counts[b] - 1] * 0x01010101U;
      __builtin_memcpy(octets[b] + counts[b], &last, sizeof last);
      search_listed<kBest>(some[b], columns_out_of_range(some[b].window), octets[b], counts[b], keys);
    }
  }
}

// ---- any number of candidates in any window

/// Adds the candidates of four octets to `best`, if they are good enough. The octets begin at `first`.
[[gnu::always_inline]] inline void add_best(const CostedSearch& search, const Position (&first)[kTogether], __m512i costs,
                                            BestKeys& best) {
  // The cheapest candidates are added first, because they lower the limit for the others.
  while (_mm512_cmple_epu16_mask(costs, all(best.limit())) != 0) {
    const int least = smallest(costs);
    const __mmask32 found = _mm512_cmpeq_epi16_mask(costs, all(least));
    costs = _mm512_mask_mov_epi16(costs, found, all(-1));
    const int width = search.window.right - search.window.left;
    for (std::uint32_t places = _cvtmask32_u32(found); places != 0; places &= places - 1) {
      const auto place = static_cast<unsigned>(std::countr_zero(places));
      const Position at = first[place / kOctet];
      const int index = (at.y - search.window.top) * width + at.x - search.window.left + static_cast<int>(place % kOctet);
      best.add(candidate_key(static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(index)));
    }
  }
}

[[gnu::noinline]] void search_starts(const CostedSearch& search, BestKeys& best) {
  const BlockRows block(search);
  Position first[kTogether];
  const __m512i costs = costed_sads_of_starts(search, block, first);
  add_best(search, first, costs, best);
}

[[gnu::noinline]] void search_octets(const CostedSearch& search, const Tile& tile, const std::uint8_t* octets, int count,
                                     BestKeys& best) {
  const BlockRows block(search);
  for (int i = 0; i < count; i += 4) {
    Position first[4];
    for (int j = 0; j < 4; ++j) {
      const int octet = octets[i + j];
      first[j] = {tile.left + octet % kTileOctets * kOctet, tile.top + octet / kTileOctets};
    }
    add_best(search, first, costed_sads(search, block, first), best);
  }
}

void search_wide(const CostedSearch& search, const QuarterSumsView& sums, BestKeys& best) {
  const SearchWindow& window = search.window;
  search_starts(search, best);
  alignas(64) std::uint8_t octets[kTileRows * kTileOctets + 64];
  for (int top = window.top; top < window.bottom; top += kTileRows) {
    for (int x = window.left; x < window.right;) {
      const int left = std::min(x, window.right - kOctet);  // the last octet may overlap the one before
      const int columns = std::min(kTileColumns, (window.right - left) / kOctet * kOctet);
      const Tile tile{left, top, columns, std::min(kTileRows, window.bottom - top)};
      const int count = list_octets(search, sums, tile, best.limit(), octets);
      if (count > 0) {
        // Copies of the last octet fill up the list to a multiple of four octets.
        const std::uint32_t last = octets[count - 1] * 0x01010101U;
        __builtin_memcpy(octets + count, &last, sizeof last);
        search_octets(search, tile, octets, count, best);
      }
      x = left + columns;
    }
  }
}

}  // namespace

void search_best(std::span<const CostedSearch> blocks, const QuarterSumsView& sums, std::size_t count) {
  const auto is_narrow = [&](const CostedSearch& block) {
    const int width = block.window.right - block.window.left;
    return count <= 2 && width >= kOctet && width <= OneRow::kColumns;
  };
  while (!blocks.empty()) {
    const auto narrow = static_cast<std::size_t>(std::ranges::find_if_not(blocks, is_narrow) - blocks.begin());
    if (count == 1) search_narrow<1>(blocks.first(narrow), sums);
    if (count == 2) search_narrow<2>(blocks.first(narrow), sums);
    blocks = blocks.subspan(narrow);
    if (blocks.empty()) return;
    const CostedSearch& block = blocks[0];
    if (block.window.right - block.window.left < kOctet) {
      scalar_decision_kernels().search_best(blocks.first(1), sums, count);
    } else {
      BestKeys best({block.keys, count});
      search_wide(block, sums, best);
    }
    blocks = blocks.subspan(1);
  }
}

}  // namespace c63::cpu::avx512

#endif
