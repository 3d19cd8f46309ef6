#pragma once

// The forward transform for decisions. A register holds one row of several blocks, one block in each lane of 128
// bits. Uses the library Highway for vectors, so that the code serves registers of every width. Everything is local to
// the file that includes it, as in kernels_portable.h.

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "codec/quantization.h"
#include "cpu/decision_kernels.h"
#include "cpu/reorder.h"
#include "cpu/unroll.h"
#include "decide/forward_transform.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::int16_t, 32>;
using Doubles = hn::RepartitionToWide<Words>;  // 32-bit numbers
using V = hn::Vec<Words>;
/// The number of blocks in a register.
constexpr int kTogether = static_cast<int>(hn::MaxLanes(Words()) / 8);

/// Eight rows or columns of kTogether blocks, as 16-bit numbers.
struct BlockRegisters {
  V rows[8];
};

// Interleave the numbers of type T of the two registers, in each lane of 128 bits: those of the lower or the upper half
// of the lane.
template <typename T>
[[gnu::always_inline]] inline V interleave_low(V a, V b) {
  const hn::Repartition<T, Words> d;
  return hn::BitCast(Words(), hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}
template <typename T>
[[gnu::always_inline]] inline V interleave_high(V a, V b) {
  const hn::Repartition<T, Words> d;
  return hn::BitCast(Words(), hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}

/// Returns the sums of the products of neighbours, plus `sum`. On x86, this is one instruction and an addition.
[[gnu::always_inline]] inline hn::Vec<Doubles> multiply_add_pairs(V a, V b, hn::Vec<Doubles> sum) {
#if defined(C63_SIMD_X86)
  hn::Vec<Doubles> unused = hn::Zero(Doubles());
  return hn::ReorderWidenMulAccumulate(Doubles(), a, b, sum, unused);
#elif defined(C63_SIMD_WASM)
  return hn::Add(sum, hn::Vec<Doubles>{wasm_i32x4_dot_i16x8(a.raw, b.raw)});
#else  // Highway 1.0.3 has no name for sums of neighbours
  const int32x4_t low = vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw));
  return hn::Add(sum, hn::Vec<Doubles>(vpaddq_s32(low, vmull_high_s16(a.raw, b.raw))));
#endif
}

/// Returns the sum of the four 32-bit numbers of each 128-bit lane, in all four places of the lane.
[[gnu::always_inline]] inline hn::Vec<Doubles> sum_of_four(hn::Vec<Doubles> v) {
  v = hn::Add(v, hn::Shuffle1032(v));
  return hn::Add(v, hn::Shuffle2301(v));
}

/// Exchanges rows and columns of every block.
[[gnu::always_inline]] inline void transpose(BlockRegisters& block) {
  V (&r)[8] = block.rows;
  V a[8];
  V b[8];
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    a[2 * i] = interleave_low<std::int16_t>(r[2 * i], r[2 * i + 1]);
    a[2 * i + 1] = interleave_high<std::int16_t>(r[2 * i], r[2 * i + 1]);
  });
  // b[4i + j] gets columns 2j and 2j + 1 of rows 4i to 4i + 3.
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    b[4 * i] = interleave_low<std::int32_t>(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = interleave_high<std::int32_t>(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = interleave_low<std::int32_t>(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = interleave_high<std::int32_t>(a[4 * i + 1], a[4 * i + 3]);
  });
  unroll<4>([&](auto j) __attribute__((always_inline)) {
    r[2 * j] = interleave_low<std::int64_t>(b[j], b[4 + j]);
    r[2 * j + 1] = interleave_high<std::int64_t>(b[j], b[4 + j]);
  });
}

// These factors make the upper 16 bits of every sum the rounded result. The first pass multiplies residuals by
// kResidualFactor. They stay below 2^13, and the sums are at most 11,560·2^16, because the results are at most 11,560.
// The second pass multiplies weights by kColumnFactor. They are at most 32,138. The sums are at most 2·92,680·11,560,
// plus 2^15 for rounding, which is below 2^31. So nothing overflows.
constexpr int kResidualFactor = 1 << (16 - kRowShift);
constexpr int kColumnFactor = 1 << (16 - kColumnShift);

/// Returns the place of column `u` after a pass. The pass has columns 0 to 3 in one register and columns 4 to 7 in
/// another, as 32-bit numbers. It takes the upper 16 bits of each number, alternately from the two registers.
constexpr int place_of_column(int u) { return u < 4 ? 2 * u : 2 * (u - 4) + 1; }

/// Returns the weights of inputs r and r + 1 in an output, as the two halves of a 32-bit number. Pairs of 16-bit inputs
/// are multiplied by it.
constexpr std::int32_t weight_pair(std::size_t r, std::size_t output, int factor) {
  const auto weight = [&](std::size_t row) {
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(factor * kTransformWeights[row][output]));
  };
  return static_cast<std::int32_t>(weight(r) | weight(r + 1) << 16);
}

/// Does one pass: replaces each column of samples by its eight outputs. Even outputs need the sums of rows j and 7 - j,
/// odd outputs need their differences. Sums are exact before they are rounded, so the result is that of
/// forward_transform().
template <int kFactor>
[[gnu::always_inline]] inline void transform_pass(BlockRegisters& block) {
  V (&r)[8] = block.rows;
  // Sum j is row j plus row 7 - j; difference j is row j minus row 7 - j. Entry 0 of `low` and `high` has sums 0 and 1
  // interleaved, entry 1 sums 2 and 3. Entry 2 has differences 0 and 1, entry 3 differences 2 and 3. `low` has the
  // first four columns of every block, `high` the last four.
  V low[4];
  V high[4];
  {
    V sums[4];
    V differences[4];
    unroll<4>([&](auto j) __attribute__((always_inline)) {
      sums[j] = hn::Add(r[j], r[7 - j]);
      differences[j] = hn::Sub(r[j], r[7 - j]);
    });
    unroll<2>([&](auto j) __attribute__((always_inline)) {
      low[j] = interleave_low<std::int16_t>(sums[2 * j], sums[2 * j + 1]);
      high[j] = interleave_high<std::int16_t>(sums[2 * j], sums[2 * j + 1]);
      low[2 + j] = interleave_low<std::int16_t>(differences[2 * j], differences[2 * j + 1]);
      high[2 + j] = interleave_high<std::int16_t>(differences[2 * j], differences[2 * j + 1]);
    });
  }
  const auto half = hn::Set(Doubles(), 1 << 15);
  unroll<8>([&](auto i) __attribute__((always_inline)) {
    constexpr int kOdd = 2 * (i & 1);
    const V first = hn::BitCast(Words(), hn::Set(Doubles(), weight_pair(0, i, kFactor)));
    const V second = hn::BitCast(Words(), hn::Set(Doubles(), weight_pair(2, i, kFactor)));
    const auto output = [&](const V* pairs) __attribute__((always_inline)) {
      return multiply_add_pairs(pairs[kOdd], first, multiply_add_pairs(pairs[kOdd + 1], second, half));
    };
    // The upper halves of the sums, alternately one of `low` and one of `high`.
    r[i] = hn::OddEven(hn::BitCast(Words(), output(high)), hn::BitCast(Words(), hn::ShiftRight<16>(output(low))));
  });
}

/// Puts the rows in order. A pass left them as columns in the order of place_of_column(), and transpose() made them
/// rows.
[[gnu::always_inline]] inline void put_in_order(BlockRegisters& block) {
  const BlockRegisters in = block;
  unroll<8>([&](auto i) __attribute__((always_inline)) { block.rows[i] = in.rows[place_of_column(i)]; });
}

/// Returns true if blocks come in pairs: both have the same samples, and the second one has no prediction. The
/// candidates of preset `fast` are such pairs. Then half of the loads are enough.
[[nodiscard]] [[gnu::always_inline]] inline bool come_in_twos(const BlockPair* pairs) {
  bool twos = kTogether > 1;
  for (int b = 0; b + 1 < kTogether; b += 2) {
    twos = twos && pairs[b].current == pairs[b + 1].current && pairs[b].current_pitch == pairs[b + 1].current_pitch &&
           pairs[b + 1].prediction.pitch == 0;
  }
  return twos;
}

/// The residuals of the blocks that are transformed together, the sums of each block's residuals, and the sums of their
/// squares.
template <bool kTwos>
struct Residuals {
  /// The shift that turns residuals into half samples times kResidualFactor.
  static constexpr int kResidualBits = 17 - kRowShift;
  static_assert(1 << kResidualBits == 2 * kResidualFactor);

  BlockRegisters half_samples;                       ///< residuals in half samples, times kResidualFactor
  alignas(64) std::int32_t sums[4 * kTogether];     ///< block b's sum is entry 4·b
  alignas(64) std::int32_t squares[4 * kTogether];

  [[gnu::always_inline]] Residuals(const BlockPair* pairs) {
    const hn::Full64<std::uint8_t> eight;
    std::uint32_t unpredicted = 0;  // a bit for each number of a register
    for (int b = 0; b < kTogether; ++b) unpredicted |= pairs[b].prediction.pitch == 0 ? 0xFFU << (8 * b) : 0;
    std::uint8_t bits[8];
    std::memcpy(bits, &unpredicted, sizeof unpredicted);
    const V offset = hn::IfThenElseZero(hn::LoadMaskBits(Words(), bits), hn::Set(Words(), kResidualFactor));
    V sum = hn::Zero(Words());
    auto square_sum = hn::Zero(Doubles());
    unroll<8>([&](auto y) __attribute__((always_inline)) {
      const auto current = [&](int b) __attribute__((always_inline)) {
        const BlockPair& pair = pairs[kTwos ? b & ~1 : b];
        return hn::LoadU(eight, pair.current + y * pair.current_pitch);
      };
      const auto predicted = [&](int b) __attribute__((always_inline)) {
        if (kTwos && b % 2 != 0) return hn::Zero(eight);
        return hn::LoadU(eight, pairs[b].prediction.samples + y * pairs[b].prediction.pitch);
      };
      const V difference = hn::Sub(hn::PromoteTo(Words(), eights<kTogether>(current)),
                                   hn::PromoteTo(Words(), eights<kTogether>(predicted)));
      sum = hn::Add(sum, difference);
      square_sum = multiply_add_pairs(difference, difference, square_sum);
      half_samples.rows[y] = hn::Add(hn::ShiftLeft<kResidualBits>(difference), offset);
    });
    hn::Store(sum_of_four(multiply_add_pairs(sum, hn::Set(Words(), 1), hn::Zero(Doubles()))), Doubles(), sums);
    hn::Store(sum_of_four(square_sum), Doubles(), squares);
  }
};

/// From the output of transform_pass() to zig-zag order.
constexpr Reordering kPassToZigZag([](std::size_t k) {
  return kZigZag[k] / 8U * 8U + static_cast<std::size_t>(place_of_column(kZigZag[k] % 8));
});

/// What transform_together() does with the transformed rows, for registers of any width.
struct AnyWidth {
  /// Writes the coefficients of all blocks to `blocks`, in zig-zag order.
  [[gnu::always_inline]] static void store_zig_zag(const BlockRegisters& registers, TransformedBlock* const* blocks) {
    unroll<8>([&](auto o) __attribute__((always_inline)) {
      split<8>(Words(), reordered<kPassToZigZag, o>(Words(), registers.rows), [&](auto eight, std::size_t b) __attribute__((always_inline)) {
        hn::Store(eight, hn::Full128<std::int16_t>(), blocks[b]->coefficients.data() + 8 * o);
      });
    });
  }

  /// Sets `ac` of all blocks to the result of summarize_ac().
  [[gnu::always_inline]] static void summarize(TransformedBlock* const* blocks, const LevelTable& table) {
    for (int b = 0; b < kTogether; ++b) summarize(*blocks[b], table);
  }
  [[gnu::always_inline]] static void summarize(TransformedBlock& block, const LevelTable& table) {
    constexpr std::size_t kLanes = hn::MaxLanes(Words());
    auto energy = hn::Zero(Doubles());
    block.ac.kept = 0;
    for (std::size_t k = 0; k < 64; k += kLanes) {
      const V magnitude = hn::Abs(hn::Load(Words(), block.coefficients.data() + k));
      std::uint8_t bits[8];
      hn::StoreMaskBits(Words(), hn::Gt(magnitude, hn::Load(Words(), table.quantizer.thresholds.data() + k)), bits);
      hwy::UnsignedFromSize<kLanes / 8> kept;  // as large as the mask, so that it stays in a register
      std::memcpy(&kept, bits, sizeof kept);
      block.ac.kept |= std::uint64_t{kept} << k;
      energy = multiply_add_pairs(magnitude, magnitude, energy);
    }
    block.ac.energy = hn::GetLane(hn::SumOfLanes(Doubles(), energy)) - square(block.coefficients[0]);
  }
};

/// Transforms kTogether blocks.
template <typename Ends, bool kTwos>
[[gnu::noinline]] void transform_together(const BlockPair* pairs, const LevelTable& table, TransformedBlock* const* blocks) {
  Residuals<kTwos> residuals(pairs);
  BlockRegisters& block = residuals.half_samples;
  transpose(block);
  transform_pass<1>(block);
  transpose(block);
  put_in_order(block);
  transform_pass<kColumnFactor>(block);
  Ends::store_zig_zag(block, blocks);
  for (int b = 0; b < kTogether; ++b) {
    blocks[b]->residual_sum = residuals.sums[4 * b];
    blocks[b]->residual_squares = residuals.squares[4 * b];
  }
  Ends::summarize(blocks, table);
}

/// DecisionKernels::transform_blocks. `Ends` is AnyWidth or has its functions.
template <typename Ends>
void transform_blocks(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks) {
  constexpr std::size_t kBlocks = kTogether;
  TransformedBlock* targets[kBlocks];
  std::size_t i = 0;
  for (; i + kBlocks <= pairs.size(); i += kBlocks) {
    for (std::size_t b = 0; b < kBlocks; ++b) targets[b] = blocks + i + b;
    const auto transform = come_in_twos(pairs.data() + i) ? transform_together<Ends, true> : transform_together<Ends, false>;
    transform(pairs.data() + i, table, targets);
  }
  if (i == pairs.size()) return;
  BlockPair rest[kBlocks];  // the last block is repeated to fill a register
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const std::size_t from = i + b < pairs.size() ? i + b : pairs.size() - 1;
    rest[b] = pairs[from];
    targets[b] = blocks + from;
  }
  transform_together<Ends, false>(rest, table, targets);
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
