// SADs of 8x8 blocks and interpolation with Highway, as in kernels_portable.h.

#pragma once

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/geometry.h"
#include "decide/fine_motion.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

/// Two rows of eight samples in one register.
using TwoRows = hn::Full128<std::uint8_t>;

[[nodiscard]] inline hn::Vec<TwoRows> load_two_rows(const std::uint8_t* p, std::ptrdiff_t pitch) {
  const hn::Half<TwoRows> half;
  return hn::Combine(TwoRows(), hn::LoadU(half, p + pitch), hn::LoadU(half, p));
}

/// Returns two sums of absolute differences, each of eight bytes.
[[nodiscard]] inline auto sads_of_eight(hn::Vec<TwoRows> a, hn::Vec<TwoRows> b) {
#if defined(C63_SIMD_X86)
  return hn::Vec<hn::Full128<std::uint64_t>>{_mm_sad_epu8(a.raw, b.raw)};  // Highway has no name for this instruction
#elif defined(C63_SIMD_NEON)
  return hn::SumsOf8(hn::Vec<TwoRows>(vabdq_u8(a.raw, b.raw)));
#else
  return hn::SumsOf8(hn::Sub(hn::Max(a, b), hn::Min(a, b)));
#endif
}

/// The samples of a block, two rows in each register.
struct PackedBlock {
  hn::Vec<TwoRows> rows[4];

  PackedBlock(const std::uint8_t* p, std::ptrdiff_t pitch)
      : rows{load_two_rows(p, pitch), load_two_rows(p + 2 * pitch, pitch), load_two_rows(p + 4 * pitch, pitch),
             load_two_rows(p + 6 * pitch, pitch)} {}

  [[nodiscard]] std::uint32_t sad(const std::uint8_t* p, std::ptrdiff_t pitch) const {
    return sad_of([&](int row) { return load_two_rows(p + row * pitch, pitch); });
  }
  /// The SAD of the block and the means of two others.
  [[nodiscard]] std::uint32_t sad_of_mean(const std::uint8_t* p, const std::uint8_t* q, std::ptrdiff_t pitch) const {
    return sad_of([&](int row) { return hn::AverageRound(load_two_rows(p + row * pitch, pitch), load_two_rows(q + row * pitch, pitch)); });
  }

 private:
  template <typename TwoRowsAt>
  [[nodiscard]] std::uint32_t sad_of(const TwoRowsAt& at) const {
    const auto top = hn::Add(sads_of_eight(rows[0], at(0)), sads_of_eight(rows[1], at(2)));
    const auto bottom = hn::Add(sads_of_eight(rows[2], at(4)), sads_of_eight(rows[3], at(6)));
    const auto sum = hn::Add(top, bottom);
    return static_cast<std::uint32_t>(hn::GetLane(hn::Add(sum, hn::Shuffle01(sum))));
  }
};

/// Loops that compilers vectorize well. The columns are filtered first, because rows and columns give the same sums.
inline void half_samples(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, std::uint8_t* right, std::uint8_t* below,
                         std::uint8_t* both) {
  constexpr int kStep = 64;
  constexpr int kBefore = 2;
  constexpr int kAfter = 3;
  for (int first = 0; first < count; first += kStep) {
    const int width = std::min(kStep, count - first);
    std::int16_t columns[kBefore + kStep + kAfter];
    const std::uint8_t* p = samples + first - kBefore;
    for (int x = 0; x < kBefore + width + kAfter; ++x) {
      columns[x] = static_cast<std::int16_t>(
          six_taps(p[x - 2 * pitch], p[x - pitch], p[x], p[x + pitch], p[x + 2 * pitch], p[x + 3 * pitch]));
    }
    p += kBefore;
    for (int x = 0; x < width; ++x) {
      right[first + x] = rounded_sample(six_taps(p[x - 2], p[x - 1], p[x], p[x + 1], p[x + 2], p[x + 3]), 5);
    }
    for (int x = 0; x < width; ++x) below[first + x] = rounded_sample(columns[x + kBefore], 5);
    for (int x = 0; x < width; ++x) {
      both[first + x] = rounded_sample(
          six_taps(columns[x], columns[x + 1], columns[x + 2], columns[x + 3], columns[x + 4], columns[x + 5]), 10);
    }
  }
}

inline void fraction_sads(const std::uint8_t* current, std::ptrdiff_t current_pitch, const std::array<const std::uint8_t*, 4>& planes,
                          std::ptrdiff_t pitch, int step, std::uint32_t* sums) {
  const PackedBlock block(current, current_pitch);
  for (int y = -kFractionReach; y <= kFractionReach; ++y) {
    for (int x = -kFractionReach; x <= kFractionReach; ++x) {
      if (x % step != 0 || y % step != 0) continue;
      const auto place = [&](bool second) {
        const HalfPoint p = quarter_point(x, y, second);
        return planes[static_cast<std::size_t>(p.plane)] + p.y * pitch + p.x;
      };
      sums[(y + kFractionReach) * kFractionSide + x + kFractionReach] += block.sad_of_mean(place(false), place(true), pitch);
    }
  }
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
