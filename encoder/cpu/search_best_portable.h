#pragma once

// Finds the best few candidates by SAD plus vector cost, with Highway, as in kernels_portable.h. Sums of 4x4 samples
// and the costs show which candidates can still be among the best. Only for these the SAD is computed.

#include <bit>
#include <cstring>

#include "cpu/best_keys.h"
#include "cpu/decision_kernels.h"
#include "cpu/kernels_portable.h"

namespace c63::cpu {
namespace {
namespace portable {

inline void search_best_of(const CostedSearch& search, const QuarterSumsView& sums, std::size_t count) {
  const hn::CappedTag<std::uint8_t, 32> bytes;
  const hn::RebindToSigned<decltype(bytes)> differences;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(bytes));
  static_assert(kLanes <= kCostGuard);
  const SearchWindow& window = search.window;
  const int width = window.right - window.left;
  const PackedBlock block(search.current, search.current_pitch);
  decltype(hn::Zero(bytes)) quarters[4];
  for (int i = 0; i < 4; ++i) {
    const int sum = sum_of_4x4(search.current + (i >> 1) * 4 * search.current_pitch + (i & 1) * 4, search.current_pitch);
    quarters[i] = hn::Set(bytes, quarter_sum(sum));
  }

  BestKeys best({search.keys, count});
  const auto look_at = [&](int x, int y) {
    const std::uint32_t cost = block.sad(&search.reference.at(x, y), search.reference.pitch) +
                               search.costs[(y - window.top) * search.cost_pitch + x - window.left];
    best.add(candidate_key(cost, static_cast<std::uint32_t>((y - window.top) * width + x - window.left)));
  };
  for (const Position start : search.starts) look_at(start.x, start.y);
  const auto difference = [&](const std::uint8_t* p, auto quarter) {
    return hn::BitCast(bytes, hn::Abs(hn::BitCast(differences, hn::Sub(hn::LoadU(bytes, p), quarter))));
  };
  for (int y = window.top; y < window.bottom; ++y) {
    for (int x = window.left; x < window.right; x += kLanes) {
      const std::uint8_t* top = sums.at(x, y);
      const std::uint8_t* bottom = top + 4 * sums.pitch;
      const auto bound = hn::SaturatedAdd(hn::SaturatedAdd(difference(top, quarters[0]), difference(top + 4, quarters[1])),
                                          hn::SaturatedAdd(difference(bottom, quarters[2]), difference(bottom + 4, quarters[3])));
      const std::uint8_t* costs = search.quarters + (y - window.top) * search.cost_pitch + x - window.left;
      const auto sum = hn::SaturatedAdd(bound, hn::LoadU(bytes, costs));
      const auto limit = hn::Set(bytes, quarter_limit(best.limit()));
      std::uint8_t mask[8] = {};
      hn::StoreMaskBits(bytes, hn::Eq(hn::Min(sum, limit), sum), mask);
      std::uint32_t bits;
      std::memcpy(&bits, mask, sizeof bits);
      if (window.right - x < kLanes) bits &= (1U << (window.right - x)) - 1U;
      for (; bits != 0; bits &= bits - 1) look_at(x + std::countr_zero(bits), y);
    }
  }
}

[[maybe_unused]] void search_best(std::span<const CostedSearch> blocks, const QuarterSumsView& sums, std::size_t count) {
  for (const CostedSearch& block : blocks) search_best_of(block, sums, count);
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
