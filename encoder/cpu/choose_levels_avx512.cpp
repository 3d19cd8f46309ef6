#if defined(C63_SIMD_X86)

// Chooses AC levels with AVX-512: choose_ac_masks() for sixteen blocks at a time, one block in each lane. A kept
// coefficient is one that AcSummary::kept marks; all others become zero. Step i looks at the i-th kept coefficient of
// every block. So blocks are sorted by their number of kept coefficients, and blocks with similar numbers are processed
// together. The result for a block is two masks (Masks). While they are computed, they have one bit for each kept
// coefficient. At the end the bits are moved to the positions of the coefficients.

#include <algorithm>
#include <array>
#include <bit>

#include "cpu/choose_levels_portable.h"
#include "cpu/kernels_avx512.h"
#include "cpu/unroll.h"

namespace c63::cpu::avx512 {
namespace {

constexpr std::size_t kLanes = 16;
constexpr int kMostNodes = 63;
/// The number of kept coefficients whose bits fit in one 32-bit word of a mask.
constexpr int kNodesPerWord = 32;
/// If fewer blocks than this are left, they are processed one by one, which is faster then.
constexpr std::size_t kFew = 4;
/// The most blocks that are sorted together by their number of kept coefficients.
constexpr std::size_t kSorted = 192;

[[gnu::always_inline]] inline __m512i all_32(std::int32_t value) { return _mm512_set1_epi32(value); }
[[gnu::always_inline]] inline __m512i all_16(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }

/// Returns a mask of a block's kept coefficients, up to the last one that may be worth its code
/// (LevelTable::last_caps).
[[gnu::always_inline]] inline std::uint64_t nodes_of(const TransformedBlock& block, const LevelTable& table) {
  const __m512i first = _mm512_abs_epi16(_mm512_load_si512(block.coefficients.data()));
  const __m512i second = _mm512_abs_epi16(_mm512_load_si512(block.coefficients.data() + 32));
  const auto above = [&](std::size_t zeros) __attribute__((always_inline)) {
    const __m512i cap = all_16(table.last_caps[zeros]);
    return _cvtmask64_u64(_mm512_kunpackd(_mm512_cmpgt_epi16_mask(second, cap), _mm512_cmpgt_epi16_mask(first, cap)));
  };
  const std::uint64_t kept = block.ac.kept;
  const std::uint64_t coded = kept | 1;  // what a coefficient may follow; bit 0, of DC, is the start of the block
  const std::uint64_t behind_none = coded << 1;
  const std::uint64_t behind_one = behind_none | coded << 2;
  const std::uint64_t worth =
      kept & ((above(0) & (above(1) | behind_none) & (above(2) | behind_one)) | std::uint64_t{1} << 63);
  return kept & (~std::uint64_t{0} >> std::countl_zero(worth | 1));  // DC is never kept
}

/// Transposes sixteen rows of sixteen numbers. Rows of `from` begin `pitch` numbers apart, rows of `to` sixteen.
[[gnu::always_inline]] inline void transpose(const std::uint32_t* from, std::size_t pitch, std::uint32_t* to) {
  __m512i a[16];
  __m512i b[16];
  unroll<8>([&](auto i) __attribute__((always_inline)) {  // rows 2i and 2i + 1
    const __m512i first = _mm512_load_si512(from + 2 * i * pitch);
    const __m512i second = _mm512_load_si512(from + (2 * i + 1) * pitch);
    a[2 * i] = _mm512_unpacklo_epi32(first, second);
    a[2 * i + 1] = _mm512_unpackhi_epi32(first, second);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {  // from rows 4i … 4i + 3, column 4·lane + j comes to b[4i + j]
    b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
  });
  unroll<4>([&](auto j) __attribute__((always_inline)) {
    const __m512i low = _mm512_shuffle_i32x4(b[j], b[4 + j], 0x44);  // columns j and 4 + j of rows 0 … 7
    const __m512i high = _mm512_shuffle_i32x4(b[j], b[4 + j], 0xEE);
    const __m512i low_end = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0x44);
    const __m512i high_end = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0xEE);
    _mm512_store_si512(to + 16 * j, _mm512_shuffle_i32x4(low, low_end, 0x88));
    _mm512_store_si512(to + 16 * (4 + j), _mm512_shuffle_i32x4(low, low_end, 0xDD));
    _mm512_store_si512(to + 16 * (8 + j), _mm512_shuffle_i32x4(high, high_end, 0x88));
    _mm512_store_si512(to + 16 * (12 + j), _mm512_shuffle_i32x4(high, high_end, 0xDD));
  });
}

/// The kept coefficients of sixteen blocks. step(i) returns the i-th one of every block: the magnitude in the lower 16
/// bits of a lane, the position in the upper 16.
class Steps {
 public:
  /// Makes room for blocks of at most `steps` kept coefficients.
  explicit Steps(int steps) : tiles_((static_cast<std::size_t>(steps) + kLanes - 1) / kLanes) {
    if (tiles_ == 1) return;  // set_lane() fills the first tile completely
    for (auto& lane : by_lane_) {
      for (std::size_t i = kLanes; i < kLanes * tiles_; i += kLanes) _mm512_store_si512(lane + i, _mm512_setzero_si512());
    }
  }
  void set_lane(std::size_t lane, const std::int16_t* coefficients, std::uint64_t nodes) {
    std::uint32_t* to = by_lane_[lane];
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto add = [&](auto i) __attribute__((always_inline)) {
      const __m256i some = _mm256_load_si256(reinterpret_cast<const __m256i*>(coefficients + 16 * i));
      const __m512i places = _mm512_slli_epi32(_mm512_add_epi32(numbers, all_32(16 * i)), 16);
      const __m512i both = _mm512_or_si512(_mm512_cvtepu16_epi32(_mm256_abs_epi16(some)), places);
      const auto mask = static_cast<__mmask16>(nodes >> (16 * i));
      _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(mask, both));
      to += std::popcount(static_cast<std::uint32_t>(mask));
    };
    add(std::integral_constant<int, 0>{});
    if (nodes >> 16 == 0) return;
    add(std::integral_constant<int, 1>{});
    if (nodes >> 32 == 0) return;
    add(std::integral_constant<int, 2>{});
    add(std::integral_constant<int, 3>{});
  }
  /// Transposes the data of all lanes. Call it after set_lane() for all lanes, before step().
  void put_together() {
    for (std::size_t i = 0; i < tiles_; ++i) transpose(by_lane_[0] + kLanes * i, kPitch, by_step_[kLanes * i]);
  }
  [[nodiscard]] __m512i step(int i) const { return _mm512_load_si512(by_step_[i]); }

 private:
  static constexpr std::size_t kPitch = kMostNodes + 1 + kLanes;  ///< set_lane() may store up to 16 numbers too many

  std::size_t tiles_;
  alignas(64) std::uint32_t by_lane_[kLanes][kPitch];
  alignas(64) std::uint32_t by_step_[kMostNodes + 1][kLanes];
};

/// The parts of a LevelTable that are needed for every kept coefficient, in registers.
class Tables {
 public:
  explicit Tables(const LevelTable& table)
      : lambda_(all_32(table.lambda)), zero_run_(all_16(table.bits.zero_run)), most_(all_32(table.quantizer.max_level)) {
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      bits_[i] = _mm512_load_si512(table.bits_by_size.data() + 32 * i);
      const __m512i reciprocals = _mm512_loadu_si512(table.quantizer.reciprocals.data() + 16 * i);
      const __m512i steps = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table.quantizer.steps.data() + 16 * i)));
      quantizers_[i] = _mm512_or_si512(_mm512_slli_epi32(reciprocals, 8), steps);
    });
  }

  [[nodiscard]] __m512i lambda() const { return lambda_; }
  [[nodiscard]] __m512i most() const { return most_; }
  /// Returns the quantizers at these positions: the reciprocal in the upper 24 bits of a lane, the quantization step in
  /// the lowest byte.
  [[nodiscard, gnu::always_inline]] __m512i quantizers(__m512i places) const {
    return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(places, all_32(32)),
                                   _mm512_permutex2var_epi32(quantizers_[0], places, quantizers_[1]),
                                   _mm512_permutex2var_epi32(quantizers_[2], places, quantizers_[3]));
  }
  /// Returns how many bits the codes of levels have, for two levels in each 32-bit lane, one in each half. The halves
  /// of `zeros` have the numbers of zeros before the levels. The halves of `sizes` have 16·(size - 1), for sizes up to
  /// 8. `large` marks the halves whose size is above 4.
  [[nodiscard, gnu::always_inline]] __m512i bits(__m512i zeros, __m512i sizes, __mmask32 large) const {
    constexpr int kFirstAndSecondOrThird = 0xEA;
    const __m512i index = _mm512_ternarylogic_epi32(zeros, all_16(15), sizes, kFirstAndSecondOrThird);
    const __m512i bits = _mm512_mask_blend_epi16(large, _mm512_permutex2var_epi16(bits_[0], index, bits_[1]),
                                                 _mm512_permutex2var_epi16(bits_[2], index, bits_[3]));
    return _mm512_add_epi16(bits, _mm512_mullo_epi16(_mm512_srli_epi16(zeros, 4), zero_run_));
  }

 private:
  __m512i bits_[4];
  __m512i quantizers_[4];
  __m512i lambda_;
  __m512i zero_run_;
  __m512i most_;
};

/// For every block, two masks of kept coefficients: those whose level is not zero, and those that get the lower one of
/// their two possible levels.
template <int kWords>
struct Masks {
  __m512i coded[kWords];
  __m512i lower[kWords];
};

/// For every block, the cheapest path to a kept coefficient.
template <int kWords>
struct Ways {
  __m512i cost;
  __m512i place;  ///< position of the coefficient, in both halves of 16 bits
  Masks<kWords> masks;
};

template <int kWords>
[[gnu::always_inline]] inline void take_where(Masks<kWords>& masks, __mmask16 where, const Masks<kWords>& others) {
  unroll<kWords>([&](auto w) __attribute__((always_inline)) {
    masks.coded[w] = _mm512_mask_mov_epi32(masks.coded[w], where, others.coded[w]);
    masks.lower[w] = _mm512_mask_mov_epi32(masks.lower[w], where, others.lower[w]);
  });
}

struct ChosenLanes {
  alignas(64) std::array<Cost, kLanes> costs;  ///< cost of the chosen levels, minus the error if all are zero
  alignas(64) std::uint32_t coded[2][kLanes] = {};
  alignas(64) std::uint32_t lower[2][kLanes] = {};
  std::uint32_t too_large = 0;  ///< a bit for each lane with a level above 255, whose choice is invalid

  [[nodiscard]] static std::uint64_t mask(const std::uint32_t (&words)[2][kLanes], std::size_t lane) {
    return words[0][lane] | static_cast<std::uint64_t>(words[1][lane]) << kNodesPerWord;
  }
};

[[gnu::always_inline]] inline __m512i gain_of(__m512i levels, __m512i steps, __m512i twice_magnitudes) {
  const __m512i shown = _mm512_slli_epi32(_mm512_srli_epi32(_mm512_add_epi32(_mm512_mullo_epi32(levels, steps), all_32(2)), 2),
                                          2 + kCoefficientFractionBits);
  return _mm512_mullo_epi32(shown, _mm512_sub_epi32(shown, twice_magnitudes));
}

/// Returns 16·(size - 1) for levels of at least 1.
[[gnu::always_inline]] inline __m512i sizes_of(__m512i levels) {
  return _mm512_slli_epi32(_mm512_sub_epi32(all_32(31), _mm512_lzcnt_epi32(levels)), 4);
}

/// Chooses the levels of sixteen blocks. `counts` has the number of kept coefficients of each block, and `most` is the
/// largest of these numbers.
template <int kWords>
[[gnu::noinline]] void choose_lanes(const Steps& steps, int most, __m512i counts, const LevelTable& table, ChosenLanes& chosen) {
  constexpr Cost kNoWay = portable::kNoWay;
  const Tables tables(table);
  const __m512i zero = _mm512_setzero_si512();
  const __m512i end = all_32(table.lambda * table.bits.end_of_block);
  Ways<kWords> older{all_32(kNoWay), zero, {}};
  unroll<kWords>([&](auto w) __attribute__((always_inline)) { older.masks.coded[w] = older.masks.lower[w] = zero; });
  Ways<kWords> third = older;
  Ways<kWords> second = older;
  Ways<kWords> last = older;
  last.cost = zero;
  __m512i best_cost = end;
  Masks<kWords> best = last.masks;
  __mmask16 too_large = 0;
  for (int i = 0; i < most; ++i) {
    const __mmask16 active = _mm512_cmpgt_epi32_mask(counts, all_32(i));
    __m512i bit[kWords];
    unroll<kWords>([&](auto w) __attribute__((always_inline)) {
      bit[w] = all_32(i / kNodesPerWord == w ? static_cast<std::int32_t>(1U << (i % kNodesPerWord)) : 0);
    });
    const __m512i node = steps.step(i);
    const __m512i k = _mm512_srli_epi32(node, 16);
    const __m512i place = _mm512_mask_blend_epi16(0x55555555, node, k);
    const __m512i magnitude = _mm512_and_si512(node, all_32(0xFFFF));
    const __m512i quantizers = tables.quantizers(k);
    const __m512i step = _mm512_and_si512(quantizers, all_32(255));
    const __m512i product = _mm512_mullo_epi32(magnitude, _mm512_srli_epi32(quantizers, 8));
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(product, all_32(1 << 19)), 20);
    const __m512i one = all_32(1);
    const __m512i nearest = _mm512_min_epi32(_mm512_max_epi32(rounded, one), tables.most());
    // If the nearest level is 1, both levels are 1, and the nearest one is chosen.
    const __m512i below = _mm512_max_epi32(_mm512_sub_epi32(nearest, one), one);
    const __m512i twice = _mm512_add_epi32(magnitude, magnitude);
    const __m512i gain = gain_of(nearest, step, twice);
    const __m512i gain_below = gain_of(below, step, twice);
    const __m512i sizes = _mm512_or_si512(sizes_of(nearest), _mm512_slli_epi32(sizes_of(below), 16));
    const __mmask32 large = _mm512_test_epi16_mask(sizes, all_16(64));
    too_large |= _mm512_mask_test_epi32_mask(active, sizes, all_32(128));

    const __m512i place_before = _mm512_sub_epi16(place, all_16(1));
    Ways<kWords> way;
    way.place = place;
    const auto continue_ways = [&](const Ways<kWords>& before, bool is_first) __attribute__((always_inline)) {
      const __m512i bits = tables.bits(_mm512_sub_epi16(place_before, before.place), sizes, large);
      const __m512i as_nearest =
          _mm512_add_epi32(gain, _mm512_mullo_epi32(_mm512_and_si512(bits, all_32(0xFFFF)), tables.lambda()));
      const __m512i as_below =
          _mm512_add_epi32(gain_below, _mm512_mullo_epi32(_mm512_srli_epi32(bits, 16), tables.lambda()));
      const __mmask16 takes_below = _mm512_cmplt_epi32_mask(as_below, as_nearest);
      const __m512i cost = _mm512_add_epi32(before.cost, _mm512_min_epi32(as_nearest, as_below));
      Masks<kWords> masks = before.masks;
      unroll<kWords>([&](auto w) __attribute__((always_inline)) {
        masks.lower[w] = _mm512_mask_or_epi32(masks.lower[w], takes_below, masks.lower[w], bit[w]);
      });
      if (is_first) {
        way.cost = cost;
        way.masks = masks;
        return;
      }
      take_where(way.masks, _mm512_cmplt_epi32_mask(cost, way.cost), masks);
      way.cost = _mm512_min_epi32(cost, way.cost);
    };
    continue_ways(older, true);
    continue_ways(third, false);
    continue_ways(second, false);
    continue_ways(last, false);
    unroll<kWords>([&](auto w) __attribute__((always_inline)) {
      way.masks.coded[w] = _mm512_or_si512(way.masks.coded[w], bit[w]);
    });

    const __mmask16 third_is_cheaper = _mm512_cmple_epi32_mask(third.cost, older.cost);
    older.cost = _mm512_min_epi32(third.cost, older.cost);
    older.place = _mm512_mask_mov_epi32(older.place, third_is_cheaper, third.place);
    take_where(older.masks, third_is_cheaper, third.masks);
    third = second;
    second = last;
    last = way;
    // Adds the cost of the end of block, except after coefficient 63, which no end of block follows.
    const __m512i ended = _mm512_mask_add_epi32(way.cost, _mm512_cmplt_epi32_mask(k, all_32(63)), way.cost, end);
    const __mmask16 is_best = _mm512_mask_cmplt_epi32_mask(active, ended, best_cost);
    best_cost = _mm512_mask_mov_epi32(best_cost, is_best, ended);
    take_where(best, is_best, way.masks);
  }
  _mm512_store_si512(chosen.costs.data(), best_cost);
  unroll<kWords>([&](auto w) __attribute__((always_inline)) {
    _mm512_store_si512(chosen.coded[w], best.coded[w]);
    _mm512_store_si512(chosen.lower[w], best.lower[w]);
  });
  chosen.too_large = too_large;
}

/// The blocks that have kept coefficients. Those with the most kept coefficients come first.
class SortedBlocks {
 public:
  SortedBlocks(std::span<const TransformedBlock> blocks, const LevelTable& table) {
    std::array<std::uint8_t, kSorted> unsorted;
    std::array<std::uint8_t, kMostNodes + 1>
        of_count{};  // entry n: number of blocks with n kept coefficients; later: index in order_ of the next of them
    // There is no branch, because it is unpredictable which blocks have kept coefficients.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      nodes_[i] = nodes_of(blocks[i], table);
      unsorted[size_] = static_cast<std::uint8_t>(i);
      size_ += nodes_[i] != 0 ? 1 : 0;
    }
    for (std::size_t i = 0; i < size_; ++i) ++of_count[count(unsorted[i])];
    std::size_t place = 0;
    for (std::size_t n = of_count.size(); n-- > 1;) {
      const std::size_t blocks_of_count = of_count[n];
      of_count[n] = static_cast<std::uint8_t>(place);
      place += blocks_of_count;
    }
    for (std::size_t i = 0; i < size_; ++i) order_[of_count[count(unsorted[i])]++] = unsorted[i];
  }

  [[nodiscard]] std::span<const std::uint8_t> order() const { return {order_.data(), size_}; }
  [[nodiscard]] std::uint64_t nodes(std::size_t block) const { return nodes_[block]; }
  [[nodiscard]] std::size_t count(std::size_t block) const { return static_cast<std::size_t>(std::popcount(nodes_[block])); }

 private:
  std::array<std::uint8_t, kSorted> order_;
  std::array<std::uint64_t, kSorted> nodes_;
  std::size_t size_ = 0;
};

/// Chooses the levels of up to sixteen blocks. `lanes` has their indices. The first one must have the most kept
/// coefficients.
void choose_together(std::span<const TransformedBlock> blocks, const SortedBlocks& sorted,
                     std::span<const std::uint8_t> lanes, const LevelTable& table, AcChoice* choices) {
  const auto most = static_cast<int>(sorted.count(lanes[0]));
  Steps steps(most);
  alignas(64) std::array<std::int32_t, kLanes> counts{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    // Unused lanes repeat the last block, and their result is not used.
    const std::size_t i = lanes[std::min(lane, lanes.size() - 1)];
    steps.set_lane(lane, blocks[i].coefficients.data(), sorted.nodes(i));
    counts[lane] = static_cast<std::int32_t>(sorted.count(i));
  }
  steps.put_together();
  ChosenLanes chosen;
  const __m512i lane_counts = _mm512_load_si512(counts.data());
  if (most <= kNodesPerWord) {
    choose_lanes<1>(steps, most, lane_counts, table, chosen);
  } else {
    choose_lanes<2>(steps, most, lane_counts, table, chosen);
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const std::size_t i = lanes[lane];
    const std::uint64_t nodes = sorted.nodes(i);
    choices[i] = {blocks[i].ac.energy + chosen.costs[lane], _pdep_u64(ChosenLanes::mask(chosen.coded, lane), nodes),
                  _pdep_u64(ChosenLanes::mask(chosen.lower, lane), nodes)};
  }
  for (std::uint32_t large = chosen.too_large & ((1U << lanes.size()) - 1); large != 0; large &= large - 1) {
    const std::size_t i = lanes[static_cast<std::size_t>(std::countr_zero(large))];
    choices[i] = portable::choose_levels_of(blocks[i], table);
  }
}

void choose_sorted(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices) {
  const SortedBlocks sorted(blocks, table);
  const Cost end = table.lambda * table.bits.end_of_block;
  for (std::size_t i = 0; i < blocks.size(); ++i) choices[i] = {blocks[i].ac.energy + end, 0, 0};
  for (auto rest = sorted.order(); !rest.empty(); rest = rest.subspan(std::min(kLanes, rest.size()))) {
    if (rest.size() < kFew) {
      for (const std::size_t i : rest) choices[i] = portable::choose_levels_of(blocks[i], table);
      return;
    }
    choose_together(blocks, sorted, rest.first(std::min(kLanes, rest.size())), table, choices);
  }
}

}  // namespace

void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices) {
  while (!blocks.empty()) {
    const std::size_t some = std::min(kSorted, blocks.size());
    choose_sorted(blocks.first(some), table, choices);
    blocks = blocks.subspan(some);
    choices += some;
  }
}

void write_levels(const TransformedBlock& block, const LevelTable& table, const AcChoice& choice, std::int16_t dc,
                  std::int16_t* levels) {
  const __m512i zero = _mm512_setzero_si512();
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    const __m512i coefficients = _mm512_load_si512(block.coefficients.data() + 32 * i);
    const __m512i magnitudes = _mm512_abs_epi16(coefficients);
    const __m512i reciprocals = _mm512_load_si512(table.short_reciprocals.data() + 32 * i);
    // Computes nearest_level() from the upper halves of the products only. The lower halves cannot change the result:
    // they would be shifted out, and they cause no carry.
    const __m512i products = _mm512_mask_mov_epi16(_mm512_mulhi_epu16(magnitudes, reciprocals),
                                                   _mm512_testn_epi16_mask(reciprocals, reciprocals), magnitudes);
    const __m512i rounded = _mm512_srli_epi16(_mm512_add_epi16(products, all_16(8)), 4);
    const __m512i nearest = _mm512_min_epi16(_mm512_max_epi16(rounded, all_16(1)), all_16(table.quantizer.max_level));
    const auto coded = static_cast<__mmask32>(choice.coded >> (32 * i));
    const auto lower = static_cast<__mmask32>(choice.lower >> (32 * i));
    const __m512i level = _mm512_mask_sub_epi16(nearest, lower, nearest, all_16(1));
    const __m512i signed_level = _mm512_mask_sub_epi16(level, _mm512_movepi16_mask(coefficients), zero, level);
    _mm512_storeu_si512(levels + 32 * i, _mm512_maskz_mov_epi16(coded, signed_level));
  });
  levels[0] = dc;
}

}  // namespace c63::cpu::avx512

#endif
