#pragma once

// Chooses AC levels: choose_ac_masks() for several blocks at a time, one block in each 32-bit lane of a register. A
// kept coefficient is one that AcSummary::kept marks; all others become zero. Step i looks at the i-th kept coefficient
// of every block. So blocks are sorted by their number of kept coefficients, and blocks with similar numbers are
// processed together. The result for a block is two masks (Masks). While they are computed, bit i is for the i-th kept
// coefficient. At the end the bits are moved to the positions of the coefficients.
//
// Uses the library Highway for vectors, so it serves every instruction set. A kit has the parts that differ: `Steps`
// collects the kept coefficients, `Tables` looks up bits. Everything is local to the file that includes it, as in
// kernels_portable.h.

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "cpu/decision_kernels.h"
#include "cpu/unroll.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<std::int32_t, 16>;
using LaneBytes = hn::Repartition<std::uint8_t, Lanes>;
/// A 32-bit number of each block.
using L = hn::Vec<Lanes>;
constexpr std::size_t kBlockLanes = hn::MaxLanes(Lanes());

/// Higher than the cost of any way to code a block. Adding the costs of two more levels does not overflow.
constexpr Cost kNoWay = 1 << 30;
constexpr int kMostNodes = 63;
/// The number of kept coefficients whose bits fit in one 32-bit word of a mask.
constexpr int kNodesPerWord = 32;
/// If fewer blocks than this are left, they are processed one by one, which is faster then.
constexpr std::size_t kFew = 2;
/// The most blocks that are sorted together by their number of kept coefficients.
constexpr std::size_t kSorted = 192;

[[gnu::always_inline]] inline L all_lanes(std::int32_t value) { return hn::Set(Lanes(), value); }

/// Returns a mask of a block's kept coefficients, up to the last one that may be worth its code
/// (LevelTable::last_caps).
[[gnu::always_inline]] inline std::uint64_t nodes_of(const TransformedBlock& block, const LevelTable& table) {
  const hn::CappedTag<std::int16_t, 32> shorts;
  constexpr std::size_t kShorts = hn::MaxLanes(shorts);
  std::uint64_t above[3] = {};  // the coefficients above each of the caps
  for (std::size_t k = 0; k < 64; k += kShorts) {
    const auto magnitudes = hn::Abs(hn::Load(shorts, block.coefficients.data() + k));
    for (std::size_t zeros = 0; zeros < 3; ++zeros) {
      std::uint8_t bits[8];
      hn::StoreMaskBits(shorts, hn::Gt(magnitudes, hn::Set(shorts, table.last_caps[zeros])), bits);
      hwy::UnsignedFromSize<kShorts / 8> mask;  // as large as the mask, so that it stays in a register
      std::memcpy(&mask, bits, sizeof mask);
      above[zeros] |= std::uint64_t{mask} << k;
    }
  }
  const std::uint64_t kept = block.ac.kept;
  const std::uint64_t coded = kept | 1;  // what a coefficient may follow; bit 0, of DC, is the start of the block
  const std::uint64_t behind_none = coded << 1;
  const std::uint64_t behind_one = behind_none | coded << 2;
  const std::uint64_t worth =
      kept & ((above[0] & (above[1] | behind_none) & (above[2] | behind_one)) | std::uint64_t{1} << 63);
  return kept & (~std::uint64_t{0} >> std::countl_zero(worth | 1));  // DC is never kept
}

/// The bits of the codes of a block's next coefficient after each of four ways, for its two possible levels.
struct CodeBits {
  L nearest[4];
  L below[4];
};

/// For instruction sets without permutations of two registers. Bits are looked up in rows of 16 bytes.
struct PortableKit {
  /// The kept coefficients of the blocks. node(i) returns the i-th one of every block: the magnitude in the lower 16
  /// bits of a lane, the position in the upper 16. quantizers(i) returns its entries of LevelTable::quantizers.
  class Steps {
   public:
    /// Makes room for blocks of at most `steps` kept coefficients.
    Steps(const LevelTable& table, int steps) : table_(table), steps_(steps) {}
    /// Always takes `steps` turns, because loops with a different end for every block are predicted badly. Turns after
    /// a block's last kept coefficient take DC, and their results are not used.
    void set_lane(std::size_t lane, const std::int16_t* coefficients, std::uint64_t nodes) {
      for (int i = 0; i < steps_; ++i, nodes &= nodes - 1) {
        const int k = std::countr_zero(nodes) % 64;
        nodes_[i][lane] = static_cast<std::uint16_t>(coefficients[k]) | k << 16;
        quantizers_[i][lane] = static_cast<std::int32_t>(table_.quantizers[static_cast<std::size_t>(k)]);
      }
    }
    /// Call it after set_lane() for all lanes, before node().
    void put_together() {}
    [[nodiscard]] L node(int i) const {
      const hn::Repartition<std::int16_t, Lanes> halves;
      return hn::BitCast(Lanes(), hn::Abs(hn::BitCast(halves, hn::Load(Lanes(), nodes_[i]))));
    }
    [[nodiscard]] L quantizers(int i) const { return hn::Load(Lanes(), quantizers_[i]); }

   private:
    const LevelTable& table_;
    int steps_;
    alignas(64) std::int32_t nodes_[kMostNodes][kBlockLanes];
    alignas(64) std::int32_t quantizers_[kMostNodes][kBlockLanes];
  };

  class Tables {
   public:
    using Places = LaneBytes;  ///< a position is in all four bytes of a lane

    explicit Tables(const LevelTable& table) {
      alignas(16) std::uint8_t runs[16] = {};
      for (int i = 1; i < 4; ++i) runs[i] = static_cast<std::uint8_t>(i * table.bits.zero_run);
      zero_runs_ = hn::LoadDup128(LaneBytes(), runs);
      unroll<kMaxSmallSize>([&](auto size) __attribute__((always_inline)) {
        rows_[size] = hn::LoadDup128(LaneBytes(), table.bits_by_size.data() + 16 * size);
      });
    }
    [[nodiscard, gnu::always_inline]] L quantizers(const Steps& steps, int i, L) const { return steps.quantizers(i); }
    [[nodiscard, gnu::always_inline]] L places(L node, L) const { return to_all_bytes<2>(node); }
    /// `zeros` are the numbers of zeros before the coefficients.
    [[nodiscard, gnu::always_inline]] CodeBits bits(const L (&zeros)[4], L nearest, L below) const {
      // Byte i of a lane is for way i, so that one look-up serves all ways.
      const auto part = [&](int way) __attribute__((always_inline)) {
        return hn::And(zeros[way], all_lanes(static_cast<std::int32_t>(0xFFU << (8 * way))));
      };
      const L four = hn::Or(hn::Or(part(0), part(1)), hn::Or(part(2), part(3)));
      const auto nibble = hn::Set(LaneBytes(), 15);
      const B low = hn::And(bytes(four), nibble);
      const B runs = hn::TableLookupBytes(zero_runs_, hn::And(bytes(hn::ShiftRight<4>(four)), nibble));
      const B exponents_of_nearest = exponents(nearest);
      const B exponents_of_below = exponents(below);
      B bits_of_nearest = hn::TableLookupBytes(rows_[0], low);
      B bits_of_below = bits_of_nearest;
      const auto use_row = [&](auto size) __attribute__((always_inline)) {
        const B row = hn::TableLookupBytes(rows_[size - 1], low);
        const B exponent = hn::Set(LaneBytes(), 126 + size);
        bits_of_nearest = hn::IfThenElse(hn::Eq(exponents_of_nearest, exponent), row, bits_of_nearest);
        bits_of_below = hn::IfThenElse(hn::Eq(exponents_of_below, exponent), row, bits_of_below);
      };
      use_row(std::integral_constant<int, 2>());
      use_row(std::integral_constant<int, 3>());
      if (!hn::AllTrue(Lanes(), hn::Lt(nearest, all_lanes(8)))) {  // large levels are rare
        unroll<kMaxSmallSize - 3>([&](auto more) __attribute__((always_inline)) {
          use_row(std::integral_constant<int, more + 4>());
        });
      }
      CodeBits found;
      const auto split = [&](B all, L (&ways)[4]) __attribute__((always_inline)) {
        const hn::RebindToUnsigned<Lanes> words;
        const auto v = hn::BitCast(words, all);
        const auto first = hn::Set(words, 0xFF);
        ways[0] = hn::BitCast(Lanes(), hn::And(v, first));
        ways[1] = hn::BitCast(Lanes(), hn::And(hn::ShiftRight<8>(v), first));
        ways[2] = hn::BitCast(Lanes(), hn::And(hn::ShiftRight<16>(v), first));
        ways[3] = hn::BitCast(Lanes(), hn::ShiftRight<24>(v));
      };
      split(hn::Add(bits_of_nearest, runs), found.nearest);
      split(hn::Add(bits_of_below, runs), found.below);
      return found;
    }

   private:
    using B = hn::Vec<LaneBytes>;

    [[nodiscard, gnu::always_inline]] static B bytes(L v) { return hn::BitCast(LaneBytes(), v); }
    /// Copies one byte of every lane to all bytes of the lane.
    template <int kByte>
    [[nodiscard, gnu::always_inline]] static L to_all_bytes(L v) {
      alignas(16) static constexpr auto kFrom = [] {
        std::array<std::uint8_t, 16> from{};
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i / 4 * 4 + kByte);
        return from;
      }();
      return hn::BitCast(Lanes(), hn::TableLookupBytes(bytes(v), hn::LoadDup128(LaneBytes(), kFrom.data())));
    }
    /// The exponent of a level as a float is 126 plus its size.
    [[nodiscard, gnu::always_inline]] static B exponents(L levels) {
      const hn::Rebind<float, Lanes> floats;
      return bytes(to_all_bytes<0>(hn::ShiftRight<23>(hn::BitCast(Lanes(), hn::ConvertTo(floats, levels)))));
    }

    B zero_runs_;  ///< bits of 0 to 3 codes of sixteen zeros
    B rows_[kMaxSmallSize];
  };
};

/// For every block, two masks of kept coefficients: those whose level is not zero, and those that get the lower one of
/// their two possible levels.
template <int kWords>
struct Masks {
  L coded[kWords];
  L lower[kWords];
};

/// For every block, the cheapest path to a kept coefficient.
template <int kWords>
struct Ways {
  L cost;
  L place;  ///< position of the coefficient, as Tables::Places says
  Masks<kWords> masks;
};

template <int kWords, typename Where>
[[gnu::always_inline]] inline void take_where(Masks<kWords>& masks, Where where, const Masks<kWords>& others) {
  unroll<kWords>([&](auto w) __attribute__((always_inline)) {
    masks.coded[w] = hn::IfThenElse(where, others.coded[w], masks.coded[w]);
    masks.lower[w] = hn::IfThenElse(where, others.lower[w], masks.lower[w]);
  });
}

struct ChosenLanes {
  alignas(64) std::array<Cost, kBlockLanes> costs;  ///< cost of the chosen levels, minus the error if all are zero
  alignas(64) std::int32_t coded[2][kBlockLanes];
  alignas(64) std::int32_t lower[2][kBlockLanes];
  /// The largest nearest level of each block. If it is above 255, the block's choice is invalid.
  alignas(64) std::array<std::int32_t, kBlockLanes> largest;

  [[nodiscard]] static std::uint64_t mask(const std::int32_t (&words)[2][kBlockLanes], std::size_t lane) {
    return static_cast<std::uint32_t>(words[0][lane]) | static_cast<std::uint64_t>(words[1][lane]) << 32;
  }
};

[[gnu::always_inline]] inline L gain_of(L levels, L steps, L twice_magnitudes) {
  const L shown =
      hn::ShiftLeft<2 + kCoefficientFractionBits>(hn::ShiftRight<2>(hn::Add(hn::Mul(levels, steps), all_lanes(2))));
  return hn::Mul(shown, hn::Sub(shown, twice_magnitudes));
}

/// Chooses the levels of the blocks. `counts` has the number of kept coefficients of each block, and `most` is the
/// largest of these numbers.
template <typename Kit, int kWords>
[[gnu::noinline]] void choose_lanes(const typename Kit::Steps& steps, int most, const std::int32_t* counts_of_lanes,
                                    const LevelTable& table, ChosenLanes& chosen) {
  const typename Kit::Tables tables(table);
  const typename Kit::Tables::Places places;
  const L zero = all_lanes(0);
  const L one = all_lanes(1);
  const L end = all_lanes(table.lambda * table.bits.end_of_block);
  const L lambda = all_lanes(table.lambda);
  const L counts = hn::Load(Lanes(), counts_of_lanes);
  Ways<kWords> older{all_lanes(kNoWay), zero, {}};
  unroll<kWords>([&](auto w) __attribute__((always_inline)) { older.masks.coded[w] = older.masks.lower[w] = zero; });
  Ways<kWords> third = older;
  Ways<kWords> second = older;
  Ways<kWords> last = older;
  last.cost = zero;
  L best_cost = end;
  Masks<kWords> best = last.masks;
  L largest = zero;
  for (int i = 0; i < most; ++i) {
    const auto active = hn::Gt(counts, all_lanes(i));
    L bit[kWords];
    unroll<kWords>([&](auto w) __attribute__((always_inline)) {
      bit[w] = all_lanes(i / kNodesPerWord == w ? static_cast<std::int32_t>(1U << (i % kNodesPerWord)) : 0);
    });
    const L node = steps.node(i);
    const L k = hn::ShiftRight<16>(node);
    const L magnitude = hn::And(node, all_lanes(0xFFFF));
    const L quantizers = tables.quantizers(steps, i, k);
    const L step = hn::And(quantizers, all_lanes(255));
    const L rounded =
        hn::ShiftRight<20>(hn::Add(hn::Mul(magnitude, hn::ShiftRight<8>(quantizers)), all_lanes(1 << 19)));
    const L nearest = hn::Min(hn::Max(rounded, one), all_lanes(table.quantizer.max_level));
    // If the nearest level is 1, both levels are 1, and the nearest one is chosen.
    const L below = hn::Max(hn::Sub(nearest, one), one);
    const L twice = hn::Add(magnitude, magnitude);
    const L gain = gain_of(nearest, step, twice);
    const L gain_below = gain_of(below, step, twice);
    largest = hn::Max(largest, hn::IfThenElseZero(active, nearest));

    Ways<kWords> way;
    way.place = tables.places(node, k);
    const auto place_before = hn::Sub(hn::BitCast(places, way.place), hn::Set(places, 1));
    const auto zeros_after = [&](const Ways<kWords>& before) __attribute__((always_inline)) {
      return hn::BitCast(Lanes(), hn::Sub(place_before, hn::BitCast(places, before.place)));
    };
    const CodeBits bits =
        tables.bits({zeros_after(older), zeros_after(third), zeros_after(second), zeros_after(last)}, nearest, below);
    const auto continue_ways = [&](auto number, const Ways<kWords>& before) __attribute__((always_inline)) {
      const L as_nearest = hn::Add(gain, hn::Mul(bits.nearest[number], lambda));
      const L as_below = hn::Add(gain_below, hn::Mul(bits.below[number], lambda));
      const auto takes_below = hn::Lt(as_below, as_nearest);
      const L cost = hn::Add(before.cost, hn::Min(as_nearest, as_below));
      Masks<kWords> masks = before.masks;
      unroll<kWords>([&](auto w) __attribute__((always_inline)) {
        masks.lower[w] = hn::IfThenElse(takes_below, hn::Or(masks.lower[w], bit[w]), masks.lower[w]);
      });
      if constexpr (number == 0) {
        way.cost = cost;
        way.masks = masks;
      } else {
        take_where(way.masks, hn::Lt(cost, way.cost), masks);
        way.cost = hn::Min(cost, way.cost);
      }
    };
    continue_ways(std::integral_constant<int, 0>(), older);
    continue_ways(std::integral_constant<int, 1>(), third);
    continue_ways(std::integral_constant<int, 2>(), second);
    continue_ways(std::integral_constant<int, 3>(), last);
    unroll<kWords>([&](auto w) __attribute__((always_inline)) {
      way.masks.coded[w] = hn::Or(way.masks.coded[w], bit[w]);
    });

    const auto older_is_cheaper = hn::Lt(older.cost, third.cost);
    older.cost = hn::Min(third.cost, older.cost);
    older.place = hn::IfThenElse(older_is_cheaper, older.place, third.place);
    Masks<kWords> oldest = third.masks;
    take_where(oldest, older_is_cheaper, older.masks);
    older.masks = oldest;
    third = second;
    second = last;
    last = way;
    // Adds the cost of the end of block, except after coefficient 63, which no end of block follows.
    const L ended = hn::Add(way.cost, hn::IfThenElseZero(hn::Lt(k, all_lanes(63)), end));
    const auto is_best = hn::And(active, hn::Lt(ended, best_cost));
    best_cost = hn::IfThenElse(is_best, ended, best_cost);
    take_where(best, is_best, way.masks);
  }
  hn::Store(best_cost, Lanes(), chosen.costs.data());
  Masks<2> placed{{zero, zero}, {zero, zero}};
  unroll<kWords>([&](auto w) __attribute__((always_inline)) {
    const int first = kNodesPerWord * w;
    for (int i = first; i < std::min(most, first + kNodesPerWord); ++i) {
      const L k = hn::ShiftRight<16>(steps.node(i));
      const L place = hn::Shl(one, hn::And(k, all_lanes(31)));
      const L bit = all_lanes(static_cast<std::int32_t>(1U << (i - first)));
      const L coded = hn::IfThenElseZero(hn::TestBit(best.coded[w], bit), place);
      const L lower = hn::IfThenElseZero(hn::TestBit(best.lower[w], bit), place);
      const auto is_high = hn::Gt(k, all_lanes(31));
      placed.coded[0] = hn::Or(placed.coded[0], hn::IfThenZeroElse(is_high, coded));
      placed.lower[0] = hn::Or(placed.lower[0], hn::IfThenZeroElse(is_high, lower));
      placed.coded[1] = hn::Or(placed.coded[1], hn::IfThenElseZero(is_high, coded));
      placed.lower[1] = hn::Or(placed.lower[1], hn::IfThenElseZero(is_high, lower));
    }
  });
  for (int w = 0; w < 2; ++w) {
    hn::Store(placed.coded[w], Lanes(), chosen.coded[w]);
    hn::Store(placed.lower[w], Lanes(), chosen.lower[w]);
  }
  hn::Store(largest, Lanes(), chosen.largest.data());
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
  [[nodiscard]] std::size_t count(std::size_t block) const {
    return static_cast<std::size_t>(std::popcount(nodes_[block]));
  }

 private:
  std::array<std::uint8_t, kSorted> order_;
  std::array<std::uint64_t, kSorted> nodes_;
  std::size_t size_ = 0;
};

inline AcChoice choose_levels_of(const TransformedBlock& block, const LevelTable& table) {
  return choose_ac_masks(block.coefficients.data(), block.ac, table.quantizer, table.bits, table.lambda);
}

/// Chooses the levels of up to kBlockLanes blocks. `lanes` has their indices. The first one must have the most kept
/// coefficients.
template <typename Kit>
void choose_together(std::span<const TransformedBlock> blocks, const SortedBlocks& sorted,
                     std::span<const std::uint8_t> lanes, const LevelTable& table, AcChoice* choices) {
  const auto most = static_cast<int>(sorted.count(lanes[0]));
  typename Kit::Steps steps(table, most);
  alignas(64) std::array<std::int32_t, kBlockLanes> counts{};
  for (std::size_t lane = 0; lane < kBlockLanes; ++lane) {
    // Unused lanes repeat the last block, and their result is not used.
    const std::size_t i = lanes[std::min(lane, lanes.size() - 1)];
    steps.set_lane(lane, blocks[i].coefficients.data(), sorted.nodes(i));
    counts[lane] = static_cast<std::int32_t>(sorted.count(i));
  }
  steps.put_together();
  ChosenLanes chosen;
  const auto choose = most <= kNodesPerWord ? choose_lanes<Kit, 1> : choose_lanes<Kit, 2>;
  choose(steps, most, counts.data(), table, chosen);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const std::size_t i = lanes[lane];
    choices[i] = {blocks[i].ac.energy + chosen.costs[lane], ChosenLanes::mask(chosen.coded, lane),
                  ChosenLanes::mask(chosen.lower, lane)};
    if (chosen.largest[lane] > 255) choices[i] = choose_levels_of(blocks[i], table);
  }
}

template <typename Kit>
void choose_sorted(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices) {
  const SortedBlocks sorted(blocks, table);
  const Cost end = table.lambda * table.bits.end_of_block;
  for (std::size_t i = 0; i < blocks.size(); ++i) choices[i] = {blocks[i].ac.energy + end, 0, 0};
  for (auto rest = sorted.order(); !rest.empty(); rest = rest.subspan(std::min(kBlockLanes, rest.size()))) {
    if (rest.size() < kFew) {
      for (const std::size_t i : rest) choices[i] = choose_levels_of(blocks[i], table);
      return;
    }
    choose_together<Kit>(blocks, sorted, rest.first(std::min(kBlockLanes, rest.size())), table, choices);
  }
}

template <typename Kit>
void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices) {
  while (!blocks.empty()) {
    const std::size_t some = std::min(kSorted, blocks.size());
    choose_sorted<Kit>(blocks.first(some), table, choices);
    blocks = blocks.subspan(some);
    choices += some;
  }
}

/// DecisionKernels::write_levels.
[[maybe_unused]] void write_levels(const TransformedBlock& block, const LevelTable& table, const AcChoice& choice,
                                   std::int16_t dc, std::int16_t* levels) {
  const hn::CappedTag<std::int16_t, 32> shorts;
  const hn::RebindToUnsigned<decltype(shorts)> unsigneds;
  for (std::size_t k = 0; k < 64; k += hn::MaxLanes(shorts)) {
    const auto coefficients = hn::Load(shorts, block.coefficients.data() + k);
    const auto magnitudes = hn::BitCast(unsigneds, hn::Abs(coefficients));
    const auto reciprocals = hn::Load(unsigneds, table.short_reciprocals.data() + k);
    // Computes nearest_level() from the upper halves of the products only. The lower halves cannot change the result:
    // they would be shifted out, and they cause no carry.
    const auto products =
        hn::IfThenElse(hn::Eq(reciprocals, hn::Zero(unsigneds)), magnitudes, hn::MulHigh(magnitudes, reciprocals));
    const auto rounded = hn::BitCast(shorts, hn::ShiftRight<4>(hn::Add(products, hn::Set(unsigneds, 8))));
    const auto one = hn::Set(shorts, 1);
    const auto nearest =
        hn::Min(hn::Max(rounded, one), hn::Set(shorts, static_cast<std::int16_t>(table.quantizer.max_level)));
    const auto mask_of = [&](std::uint64_t places) __attribute__((always_inline)) {
      std::uint8_t bits[8];
      places >>= k;
      std::memcpy(bits, &places, sizeof bits);
      return hn::LoadMaskBits(shorts, bits);
    };
    const auto level = hn::Sub(nearest, hn::IfThenElseZero(mask_of(choice.lower), one));
    const auto sign = hn::BroadcastSignBit(coefficients);  // 0 or -1; (v ^ sign) - sign is v or -v
    hn::StoreU(hn::IfThenElseZero(mask_of(choice.coded), hn::Sub(hn::Xor(level, sign), sign)), shorts, levels + k);
  }
  levels[0] = dc;
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
