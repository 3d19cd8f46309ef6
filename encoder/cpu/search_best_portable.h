#pragma once

// Finds the best few candidates by SAD plus vector cost, with Highway, as in kernels_portable.h. Sums of 4x4 samples
// and the costs show which candidates can still be among the best. The SAD is computed only for these and for the
// starts.

#include <bit>

#include "cpu/best_keys.h"
#include "cpu/decision_kernels.h"
#include "cpu/kernels_portable.h"

namespace c63::cpu {
namespace {
namespace portable {

inline void search_best_of(const CostedSearch& search, const QuarterSumsView& sums, std::size_t count) {
  static_assert(QuarterBounds::kLanes <= kCostGuard);
  const SearchWindow& window = search.window;
  const int width = window.right - window.left;
  const PackedBlock block(search.current, search.current_pitch);
  const QuarterBounds bounds(search);

  BestKeys best({search.keys, count});
  const auto look_at = [&](int x, int y) {
    const std::uint32_t cost = block.sad(&search.reference.at(x, y), search.reference.pitch) +
                               search.costs[(y - window.top) * search.cost_pitch + x - window.left];
    best.add(candidate_key(cost, static_cast<std::uint32_t>((y - window.top) * width + x - window.left)));
  };
  for (const Position start : search.starts) look_at(start.x, start.y);
  for (int y = window.top; y < window.bottom; ++y) {
    for (int x = window.left; x < window.right; x += QuarterBounds::kLanes) {
      const std::uint8_t* costs = search.quarters + (y - window.top) * search.cost_pitch + x - window.left;
      const auto sum = hn::SaturatedAdd(bounds.at(sums.at(x, y), sums.pitch), hn::LoadU(QuarterBounds::kTag, costs));
      std::uint32_t bits = QuarterBounds::at_most(sum, quarter_limit(best.limit()), window.right - x);
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
