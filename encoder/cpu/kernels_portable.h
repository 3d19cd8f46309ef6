// The kernels with Highway: one source for every instruction set without its own form. A file that includes it is
// compiled for one instruction set (Highway's static dispatch). Everything here is local to that file. Otherwise the
// linker could merge it with code that is compiled for another instruction set, which the machine may not have.

#pragma once

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu/best_keys.h"
#include "cpu/block_sads_portable.h"
#include "cpu/kernels.h"
#include "cpu/transform_portable.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

// ---- motion search

[[nodiscard]] std::uint32_t sad(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b,
                                std::ptrdiff_t b_pitch) {
  return PackedBlock(a, a_pitch).sad(b, b_pitch);
}

/// Returns the sum of the 4x4 samples at p.
[[nodiscard]] inline std::uint16_t sum_of_4x4(const std::uint8_t* p, std::ptrdiff_t pitch) {
  int sum = 0;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) sum += p[y * pitch + x];
  }
  return static_cast<std::uint16_t>(sum);
}

/// Lower bounds of the SADs of neighbouring candidates, divided by four, at most 255. A bound adds up the distances
/// between the four quarter sums of the candidate and those of the block. Rounding may make it too large by less than
/// 3, which quarter_limit() allows for.
class QuarterBounds {
 public:
  static constexpr hn::CappedTag<std::uint8_t, 32> kTag{};
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(kTag));
  using Bytes = hn::Vec<hn::CappedTag<std::uint8_t, 32>>;

  explicit QuarterBounds(const BlockSearch& search) {
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t* const square = search.current + (i >> 1) * 4 * search.current_pitch + (i & 1) * 4;
      quarters_[i] = hn::Set(kTag, quarter_sum(sum_of_4x4(square, search.current_pitch)));
    }
  }

  /// Returns the bounds of kLanes neighbouring candidates. `sums` points to the quarter sum at the position of the
  /// first one.
  [[nodiscard]] Bytes at(const std::uint8_t* sums, std::ptrdiff_t pitch) const {
    const std::uint8_t* const below = sums + 4 * pitch;
    return hn::SaturatedAdd(hn::SaturatedAdd(distance(sums, quarters_[0]), distance(sums + 4, quarters_[1])),
                            hn::SaturatedAdd(distance(below, quarters_[2]), distance(below + 4, quarters_[3])));
  }

  /// Returns a mask with a bit for each value that is at most `limit`.
  [[nodiscard]] static std::uint32_t at_most(Bytes values, std::uint8_t limit) {
    std::uint8_t mask[8] = {};
    hn::StoreMaskBits(kTag, hn::Eq(hn::Min(values, hn::Set(kTag, limit)), values), mask);
    std::uint32_t bits;
    std::memcpy(&bits, mask, sizeof bits);
    return bits;
  }
  /// Returns a mask of the first `count` of kLanes bits.
  [[nodiscard]] static std::uint32_t first_bits(int count) { return ~0U >> (32 - std::min(count, kLanes)); }

 private:
  [[nodiscard]] static Bytes distance(const std::uint8_t* sums, Bytes quarter) {
    const hn::RebindToSigned<decltype(kTag)> differences;
    return hn::BitCast(kTag, hn::Abs(hn::BitCast(differences, hn::Sub(hn::LoadU(kTag, sums), quarter))));
  }

  Bytes quarters_[4];
};

/// Searches one block. Only candidates whose bounds do not rule them out are searched, one at a time.
template <bool kCosted, bool kOne>
void search_block(const BlockSearch& search, const QuarterSumsView& sums, const SearchCosts& costs, std::size_t count) {
  static_assert(QuarterBounds::kLanes <= SearchCosts::kGuard);
  const SearchWindow& window = search.window;
  const PackedBlock block(search.current, search.current_pitch);
  const QuarterBounds bounds(search);
  BestKeys best({search.keys, count});
  std::uint32_t first = UINT32_MAX;
  const auto limit_of_best = [&] { return kOne ? static_cast<int>(std::min<std::uint32_t>(first >> 16, kNoCost - 1)) : best.limit(); };
  const auto try_candidate = [&](int x, int y) {
    const std::uint32_t sad = block.sad(&search.reference.at(x, y), search.reference.pitch);
    const std::uint32_t cost = kCosted ? costs.of(x - search.own.x, y - search.own.y) : 0;
    const std::uint32_t key = candidate_key(sad + cost, search.index_of(x, y));
    if constexpr (kOne) {
      first = std::min(first, key);
    } else {
      best.add(key);
    }
  };
  if (sums.data != nullptr) {
    for (const Position start : search.starts) try_candidate(start.x, start.y);
  }
  for (int y = window.top; y < window.bottom; ++y) {
    const int of_row = kCosted ? costs.quarters[SearchCosts::entry(y - search.own.y)] : 0;
    for (int x = window.left; x < window.right; x += QuarterBounds::kLanes) {
      std::uint32_t bits = QuarterBounds::first_bits(window.right - x);
      const int limit = quarter_limit(limit_of_best());
      if (sums.data != nullptr && limit != kNoQuarterLimit) {
        if (of_row > limit) break;
        auto sum = bounds.at(sums.at(x, y), sums.pitch);
        if constexpr (kCosted) {
          const std::uint8_t* const of_columns = costs.quarters.data() + SearchCosts::entry(x - search.own.x);
          sum = hn::SaturatedAdd(sum, hn::LoadU(QuarterBounds::kTag, of_columns));
        }
        bits &= QuarterBounds::at_most(sum, static_cast<std::uint8_t>(limit - of_row));
      }
      for (; bits != 0; bits &= bits - 1) try_candidate(x + std::countr_zero(bits), y);
    }
  }
  if constexpr (kOne) search.keys[0] = first;
}

[[maybe_unused]] void search(std::span<const BlockSearch> blocks, const QuarterSumsView& sums, const SearchCosts* costs, std::size_t count) {
  const auto search_one = costs == nullptr ? (count == 1 ? search_block<false, true> : search_block<false, false>)
                                           : (count == 1 ? search_block<true, true> : search_block<true, false>);
  for (const BlockSearch& block : blocks) search_one(block, sums, costs != nullptr ? *costs : free_vectors(), count);
}

void quarter_sums(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* sums,
                  std::ptrdiff_t sums_pitch) {
  constexpr int kStep = 64;
  for (int x = 0; x < count; x += kStep) {
    const int width = std::min(kStep, count - x);
    for (int y = 0; y < rows; ++y) {
      std::uint16_t columns[kStep + 3];
      const std::uint8_t* const p = samples + y * pitch + x;
      for (int i = 0; i < width + 3; ++i) {
        columns[i] = static_cast<std::uint16_t>(p[i] + p[pitch + i] + p[2 * pitch + i] + p[3 * pitch + i]);
      }
      std::uint8_t* const to = sums + y * sums_pitch + x;
      for (int i = 0; i < width; ++i) to[i] = quarter_sum(columns[i] + columns[i + 1] + columns[i + 2] + columns[i + 3]);
    }
  }
}

// ---- quality: loops that compilers vectorize well

void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums) {
  constexpr int kStep = 8;
  for (int block = 0; block < count; block += kStep) {
    const int width = 4 * std::min(kStep, count - block);
    std::int32_t columns[4][4 * kStep] = {};
    for (int y = 0; y < 4; ++y) {
      const std::uint8_t* p = a + y * a_pitch + 4 * block;
      const std::uint8_t* q = b + y * b_pitch + 4 * block;
      for (int x = 0; x < width; ++x) {
        columns[0][x] += p[x];
        columns[1][x] += q[x];
        columns[2][x] += p[x] * p[x] + q[x] * q[x];
        columns[3][x] += p[x] * q[x];
      }
    }
    for (int i = 0; 4 * i < width; ++i) {
      const auto total = [&](int kind) {
        const std::int32_t* c = columns[kind] + 4 * i;
        return c[0] + c[1] + c[2] + c[3];
      };
      sums[block + i] = {total(0), total(1), total(2), total(3)};
    }
  }
}

/// Returns the table of an instruction set that has no kernels of its own.
[[maybe_unused]] constexpr Kernels table(SimdLevel level, const DecisionKernels& (*decisions)()) {
  return {level,
          sad,
          search,
          quarter_sums,
          transform_quantize_each<code_block>,
          dequantize_reconstruct_each<restore_block>,
          ssim_sums,
          half_samples,
          fraction_sads,
          decisions};
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
