#pragma once

// The best few candidates by SAD and what vectors cost, in Highway's terms, as kernels_portable.h: sums of 4x4 samples and
// costs tell which candidates can still be one of them, and those are searched one by one.

#include "cpu/best_keys.h"
#include "cpu/decision_kernels.h"
#include "cpu/kernels_portable.h"

namespace c63::cpu {
namespace {
namespace portable {

[[maybe_unused]] void search_best(const CostedSearch& search, const SumsView& sums, std::span<const Position> starts,
                                  std::span<std::uint32_t> keys) {
  const hn::CappedTag<std::int16_t, 16> shorts;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(shorts));
  const SearchWindow& window = search.window;
  const int width = window.right - window.left;
  const PackedBlock block(search.current, search.current_pitch);
  decltype(hn::Zero(shorts)) quarters[4];
  for (int i = 0; i < 4; ++i) {
    quarters[i] = hn::Set(shorts, static_cast<std::int16_t>(sum_of_4x4(
                                      search.current + (i >> 1) * 4 * search.current_pitch + (i & 1) * 4, search.current_pitch)));
  }
  static_assert(kLanes <= kCostGuard);

  BestKeys best(keys);
  const auto costs_from = [&](int x, int y) { return search.costs + (y - window.top) * search.cost_pitch + x - window.left; };
  const auto look_at = [&](int x, int y) {
    const std::uint32_t cost = block.sad(&search.reference.at(x, y), search.reference.pitch) + *costs_from(x, y);
    best.add(candidate_key(cost, static_cast<std::uint32_t>((y - window.top) * width + x - window.left)));
  };
  for (const Position start : starts) look_at(start.x, start.y);
  const auto load = [&](const std::uint16_t* p) {
    return hn::BitCast(shorts, hn::LoadU(hn::RebindToUnsigned<decltype(shorts)>(), p));
  };
  const auto difference = [&](const std::uint16_t* p, auto quarter) { return hn::Abs(hn::Sub(load(p), quarter)); };
  for (int y = window.top; y < window.bottom; ++y) {
    for (int x = window.left; x < window.right; x += kLanes) {
      const std::uint16_t* top = sums.at(x, y);
      const std::uint16_t* bottom = top + 4 * sums.pitch;
      const auto bound = hn::Add(hn::Add(difference(top, quarters[0]), difference(top + 4, quarters[1])),
                                 hn::Add(difference(bottom, quarters[2]), difference(bottom + 4, quarters[3])));
      const auto cost = hn::Add(bound, load(costs_from(x, y)));
      const int above = std::min(best.limit() + 1, 0x7FFF);
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(shorts, hn::Lt(cost, hn::Set(shorts, static_cast<std::int16_t>(above))), bytes);
      unsigned bits = bytes[0] | static_cast<unsigned>(bytes[1]) << 8;
      if (window.right - x < kLanes) bits &= (1U << (window.right - x)) - 1U;
      for (; bits != 0; bits &= bits - 1) look_at(x + std::countr_zero(bits), y);
    }
  }
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
