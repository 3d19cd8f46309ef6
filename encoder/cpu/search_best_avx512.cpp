#if defined(C63_SIMD_X86)

// The best few candidates by SAD and what vectors cost, with AVX-512. As in eliminate_avx512.cpp, sums of 4x4 samples first
// tell which octets of candidates can still have one of them, then those octets are searched, four at a time. Where a row of
// the window fits in a register and only one or two are wanted, looking at all is as fast.

#include <algorithm>
#include <bit>

#include "cpu/best_keys.h"
#include "cpu/columns_avx512.h"
#include "cpu/decision_kernels_avx512.h"
#include "cpu/octets_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// What the columns of four octets add to a cost, and their rows.
struct OctetCosts {
  const CostedSearch& search;

  [[nodiscard, gnu::always_inline]] __m128i columns(int x) const {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(search.column_costs + (x - search.window.left)));
  }
  [[nodiscard, gnu::always_inline]] __m128i of(Position first) const {
    const auto row = static_cast<short>(search.row_costs[first.y - search.window.top]);
    return _mm_add_epi16(columns(first.x), _mm_set1_epi16(row));
  }
  [[nodiscard, gnu::always_inline]] __m512i of(const Position (&first)[4]) const {
    __m512i costs = _mm512_castsi128_si512(of(first[0]));
    costs = _mm512_inserti32x4(costs, of(first[1]), 1);
    costs = _mm512_inserti32x4(costs, of(first[2]), 2);
    return _mm512_inserti32x4(costs, of(first[3]), 3);
  }
};

/// Searches four octets, which begin at `first`.
[[gnu::always_inline]] inline void search_four(const CostedSearch& search, const BlockRows& block, const Position (&first)[4],
                                               BestKeys& best) {
  const auto samples = [&](int i) { return &search.reference.at(first[i].x, first[i].y); };
  const __m512i sads = sads_of_octets(block, samples(0), samples(1), samples(2), samples(3), search.reference.pitch);
  __m512i costs = _mm512_add_epi16(sads, OctetCosts{search}.of(first));
  while (_mm512_cmple_epu16_mask(costs, all(best.limit())) != 0) {  // the least first, for it lowers the limit
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

[[gnu::noinline]] void search_starts(const CostedSearch& search, std::span<const Position> starts, BestKeys& best) {
  const BlockRows block(search);
  const SearchWindow& window = search.window;
  for (std::size_t i = 0; i < starts.size(); i += kStarts) {
    Position first[kStarts];
    for (std::size_t j = 0; j < kStarts; ++j) {
      const Position start = starts[std::min(i + j, starts.size() - 1)];
      first[j] = {std::clamp(start.x - kOctet / 2, window.left, window.right - kOctet), start.y};
    }
    search_four(search, block, first, best);
  }
}

/// Lists the octets of a tile that may have a candidate of at most the limit, in raster order; returns how many they are.
[[gnu::noinline]] int list_octets(const CostedSearch& search, const SumsView& view, const Tile& tile, int limit,
                                  std::uint8_t* octets) {
  const Quarters quarters(search);
  const auto valid = static_cast<__mmask32>(low_bits(tile.columns));
  const __m512i columns =
      _mm512_maskz_loadu_epi16(valid, search.column_costs + (tile.left - search.window.left));
  const std::uint16_t* const row_costs = search.row_costs + (tile.top - search.window.top);
  const std::uint16_t* sums = view.at(tile.left, tile.top);
  SumRow above[4] = {SumRow(sums), SumRow(sums + view.pitch), SumRow(sums + 2 * view.pitch),
                     SumRow(sums + 3 * view.pitch)};
  int count = 0;
  std::uint64_t numbers = 0x0706050403020100;
  for (int row = 0; row < tile.rows; row += 4) {
    sums += 4 * view.pitch;
    __mmask32 kept[4];
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      const SumRow below(sums + i * view.pitch);
      const __m512i bound = _mm512_add_epi16(above[i].difference(quarters.top_left, quarters.top_right),
                                             below.difference(quarters.bottom_left, quarters.bottom_right));
      const bool inside = row + i < tile.rows;
      const int rest = inside ? limit - row_costs[row + i] : 0;
      kept[i] = _mm512_mask_cmple_epi16_mask(inside ? valid : 0, _mm512_add_epi16(bound, columns), all(rest));
      above[i] = below;
    });
    unroll<2>([&](auto i) __attribute__((always_inline)) {
      count += list_octets_of(kept[2 * i], kept[2 * i + 1], numbers, octets + count);
      numbers += kRowPair;
    });
  }
  return count;
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
    search_four(search, block, first, best);
  }
}

// ---- all candidates

/// What candidates cost beside their SAD: the columns of a register of them, and each row.
template <typename Shape>
class RegisterCosts;

template <>
class RegisterCosts<OneRow> {
 public:
  RegisterCosts(const CostedSearch& search, const OneRow&, __m512i columns) : columns_(columns), rows_(search.row_costs) {}
  [[nodiscard, gnu::always_inline]] __m512i at(int row) const {
    return _mm512_add_epi16(columns_, all(rows_[row]));
  }

 private:
  __m512i columns_;
  const std::uint16_t* rows_;
};

template <>
class RegisterCosts<TwoRows> {
 public:
  RegisterCosts(const CostedSearch& search, const TwoRows& shape, __m512i columns)
      : columns_(_mm512_inserti64x4(columns, _mm512_castsi512_si256(columns), 1)),
        rows_(search.row_costs),
        below_(search.row_costs + shape.rows) {}
  [[nodiscard, gnu::always_inline]] __m512i at(int row) const {
    const __m512i both = _mm512_mask_set1_epi16(all(rows_[row]), 0xFFFF0000U, static_cast<short>(below_[row]));
    return _mm512_add_epi16(columns_, both);
  }

 private:
  __m512i columns_;
  const std::uint16_t* rows_;
  const std::uint16_t* below_;
};

/// The best kBest, one or two, of each place in a register of candidates, and in which rows they are; of equals the first.
template <typename Shape, std::size_t kBest>
class BestOfPlaces {
 public:
  explicit BestOfPlaces(const RegisterCosts<Shape>& costs) : costs_(costs) {}

  [[gnu::always_inline]] void take(__m512i sads, int row) {
    const __m512i costs = _mm512_add_epi16(sads, costs_.at(row));
    const __m512i rows = all(row);
    const __mmask32 best = _mm512_cmplt_epu16_mask(costs, first_);
    if constexpr (kBest > 1) {
      const __mmask32 good = _mm512_cmplt_epu16_mask(costs, second_);
      second_ = _mm512_min_epu16(second_, _mm512_max_epu16(first_, costs));
      second_rows_ = _mm512_mask_mov_epi16(_mm512_mask_mov_epi16(second_rows_, good, rows), best, first_rows_);
    }
    first_ = _mm512_min_epu16(first_, costs);
    first_rows_ = _mm512_mask_mov_epi16(first_rows_, best, rows);
  }

  /// Writes the keys of the best candidates.
  void write(const Shape& shape, int columns, std::span<std::uint32_t> keys) {
    const __mmask32 valid = shape.valid(columns);
    for (std::uint32_t& key : keys) {
      const int cost = smallest(_mm512_mask_mov_epi16(all(0xFFFF), valid, first_));
      if (cost == 0xFFFF) return;
      const __mmask32 equal = _mm512_mask_cmpeq_epu16_mask(valid, first_, all(cost));
      const __m512i true_rows = shape.true_rows(first_rows_);
      const int row = smallest(_mm512_mask_mov_epi16(all(0xFFFF), equal, true_rows));
      const std::uint32_t places = _cvtmask32_u32(_mm512_mask_cmpeq_epu16_mask(equal, true_rows, all(row)));
      const auto taken = static_cast<__mmask32>(places & -places);
      key = candidate_key(static_cast<std::uint32_t>(cost),
                          static_cast<std::uint32_t>(row * columns + std::countr_zero(places) % Shape::kColumns));
      first_ = _mm512_mask_mov_epi16(first_, taken, second_);
      first_rows_ = _mm512_mask_mov_epi16(first_rows_, taken, second_rows_);
    }
  }

 private:
  RegisterCosts<Shape> costs_;
  __m512i first_ = all(0xFFFF);
  __m512i first_rows_ = all(0);
  __m512i second_ = all(0xFFFF);
  __m512i second_rows_ = all(0);
};

template <std::size_t kBest, typename Shape>
[[gnu::noinline]] void search_columns(const CostedSearch& search, Shape shape, int rows, std::span<std::uint32_t> keys) {
  const SearchWindow& window = search.window;
  const int columns = window.right - window.left;
  const __m512i column_costs = _mm512_maskz_loadu_epi16(low_bits(columns), search.column_costs);
  const BlockRows block(search);
  BestOfPlaces<Shape, kBest> best{RegisterCosts<Shape>(search, shape, column_costs)};
  search_rows(shape, block, &search.reference.at(window.left, window.top), search.reference.pitch, rows, best);
  best.write(shape, columns, keys);
}

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

}  // namespace

void search_best(const CostedSearch& search, const SumsView& sums, std::span<const Position> starts,
                 std::span<std::uint32_t> keys) {
  const SearchWindow& window = search.window;
  if (window.right - window.left < kOctet) return scalar_decision_kernels().search_best(search, sums, starts, keys);
  const bool in_a_register = window.right - window.left <= OneRow::kColumns;
  if (in_a_register && keys.size() == 1) return search_all<1>(search, keys);
  if (in_a_register && keys.size() == 2) return search_all<2>(search, keys);
  BestKeys best(keys);
  search_starts(search, starts, best);
  alignas(64) std::uint8_t octets[kTileRows * kTileOctets + 64];
  for (int top = window.top; top < window.bottom; top += kTileRows) {
    for (int x = window.left; x < window.right;) {
      const int left = std::min(x, window.right - kOctet);  // the last octet may overlap the one before
      const int columns = std::min(kTileColumns, (window.right - left) / kOctet * kOctet);
      const Tile tile{left, top, columns, std::min(kTileRows, window.bottom - top)};
      const int count = list_octets(search, sums, tile, best.limit(), octets);
      if (count > 0) {
        const std::uint32_t last = octets[count - 1] * 0x01010101U;  // the last one again, so that they come in fours
        __builtin_memcpy(octets + count, &last, sizeof last);
        search_octets(search, tile, octets, count, best);
      }
      x = left + columns;
    }
  }
}

}  // namespace c63::cpu::avx512

#endif
