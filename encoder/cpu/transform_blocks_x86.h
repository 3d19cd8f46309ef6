#pragma once

// The forward transform for decisions, with AVX2 and AVX-512. A register holds one row of several blocks, one block in
// each lane of 128 bits. The code is written once for both register widths. Everything is local to the file that
// includes it.

#include <immintrin.h>

#include <cstdint>
#include <span>

#include "codec/quantization.h"
#include "cpu/decision_kernels.h"
#include "cpu/unroll.h"
#include "decide/forward_transform.h"

namespace c63::cpu {
namespace {

/// Eight rows or columns of kBlocks blocks, as 16-bit numbers.
template <typename Simd>
struct BlockRegisters {
  typename Simd::Vector rows[8];
};

/// Exchanges rows and columns of every block.
template <typename Simd>
[[gnu::always_inline]] inline void transpose(BlockRegisters<Simd>& block) {
  using V = typename Simd::Vector;
  V (&r)[8] = block.rows;
  V a[8];
  V b[8];
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    a[2 * i] = Simd::interleave_low_16(r[2 * i], r[2 * i + 1]);
    a[2 * i + 1] = Simd::interleave_high_16(r[2 * i], r[2 * i + 1]);
  });
  // b[4i + j] gets columns 2j and 2j + 1 of rows 4i to 4i + 3.
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    b[4 * i] = Simd::interleave_low_32(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = Simd::interleave_high_32(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = Simd::interleave_low_32(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = Simd::interleave_high_32(a[4 * i + 1], a[4 * i + 3]);
  });
  unroll<4>([&](auto j) __attribute__((always_inline)) {
    r[2 * j] = Simd::interleave_low_64(b[j], b[4 + j]);
    r[2 * j + 1] = Simd::interleave_high_64(b[j], b[4 + j]);
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
template <typename Simd, int kFactor>
[[gnu::always_inline]] inline void transform_pass(BlockRegisters<Simd>& block) {
  using V = typename Simd::Vector;
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
      sums[j] = Simd::add_16(r[j], r[7 - j]);
      differences[j] = Simd::subtract_16(r[j], r[7 - j]);
    });
    unroll<2>([&](auto j) __attribute__((always_inline)) {
      low[j] = Simd::interleave_low_16(sums[2 * j], sums[2 * j + 1]);
      high[j] = Simd::interleave_high_16(sums[2 * j], sums[2 * j + 1]);
      low[2 + j] = Simd::interleave_low_16(differences[2 * j], differences[2 * j + 1]);
      high[2 + j] = Simd::interleave_high_16(differences[2 * j], differences[2 * j + 1]);
    });
  }
  const V half = Simd::all_32(1 << 15);
  unroll<8>([&](auto i) __attribute__((always_inline)) {
    constexpr int kOdd = 2 * (i & 1);
    const V first = Simd::all_32(weight_pair(0, i, kFactor));
    const V second = Simd::all_32(weight_pair(2, i, kFactor));
    const auto output = [&](const V* pairs) __attribute__((always_inline)) {
      const V sum = Simd::add_32(Simd::multiply_add_pairs(pairs[kOdd], first),
                                 Simd::multiply_add_pairs(pairs[kOdd + 1], second));
      return Simd::add_32(sum, half);
    };
    r[i] = Simd::upper_halves(output(low), output(high));
  });
}

/// Puts the rows in order. A pass left them as columns in the order of place_of_column(), and transpose() made them
/// rows.
template <typename Simd>
[[gnu::always_inline]] inline void put_in_order(BlockRegisters<Simd>& block) {
  const BlockRegisters<Simd> in = block;
  unroll<8>([&](auto i) __attribute__((always_inline)) { block.rows[i] = in.rows[place_of_column(i)]; });
}

/// Returns true if blocks come in pairs: both have the same samples, and the second one has no prediction. The
/// candidates of preset `fast` are such pairs. Then half of the loads are enough.
template <typename Simd>
[[nodiscard]] [[gnu::always_inline]] inline bool come_in_twos(const BlockPair* pairs) {
  bool twos = true;
  for (int b = 0; b < Simd::kBlocks; b += 2) {
    twos = twos && pairs[b].current == pairs[b + 1].current && pairs[b].current_pitch == pairs[b + 1].current_pitch &&
           pairs[b + 1].prediction.pitch == 0;
  }
  return twos;
}

/// The residuals of the blocks that are transformed together, the sums of each block's residuals, and the sums of their
/// squares.
template <typename Simd, bool kTwos>
struct Residuals {
  /// The shift that turns residuals into half samples times kResidualFactor.
  static constexpr int kResidualBits = 17 - kRowShift;
  static_assert(1 << kResidualBits == 2 * kResidualFactor);

  BlockRegisters<Simd> half_samples;                    ///< residuals in half samples, times kResidualFactor
  alignas(64) std::int32_t sums[4 * Simd::kBlocks];     ///< block b's sum is entry 4·b
  alignas(64) std::int32_t squares[4 * Simd::kBlocks];

  [[gnu::always_inline]] Residuals(const BlockPair* pairs) {
    const auto offset = Simd::where(kResidualFactor, [&](int b) __attribute__((always_inline)) { return pairs[b].prediction.pitch == 0; });
    auto sum = Simd::zero();
    auto square_sum = Simd::zero();
    unroll<8>([&](auto y) __attribute__((always_inline)) {
      const auto current = [&](int b) __attribute__((always_inline)) { return pairs[b].current + y * pairs[b].current_pitch; };
      const auto predicted = [&](int b) __attribute__((always_inline)) {
        return pairs[b].prediction.samples + y * pairs[b].prediction.pitch;
      };
      const auto difference = kTwos ? Simd::subtract_16(Simd::row_of_equal_twos(current), Simd::row_of_firsts(predicted))
                                    : Simd::subtract_16(Simd::row_of_samples(current), Simd::row_of_samples(predicted));
      sum = Simd::add_16(sum, difference);
      square_sum = Simd::add_32(square_sum, Simd::multiply_add_pairs(difference, difference));
      half_samples.rows[y] = Simd::add_16(Simd::template shift_left_16<kResidualBits>(difference), offset);
    });
    Simd::store(sums, Simd::sum_of_four_32(Simd::multiply_add_pairs(sum, Simd::all_16(1))));
    Simd::store(squares, Simd::sum_of_four_32(square_sum));
  }
};

/// Transforms Simd::kBlocks blocks.
template <typename Simd, bool kTwos>
[[gnu::noinline]] void transform_together(const BlockPair* pairs, const LevelTable& table, TransformedBlock* const* blocks) {
  Residuals<Simd, kTwos> residuals(pairs);
  BlockRegisters<Simd>& block = residuals.half_samples;
  transpose<Simd>(block);
  transform_pass<Simd, 1>(block);
  transpose<Simd>(block);
  put_in_order<Simd>(block);
  transform_pass<Simd, kColumnFactor>(block);
  Simd::store_zig_zag(block, blocks);
  for (int b = 0; b < Simd::kBlocks; ++b) {
    blocks[b]->residual_sum = residuals.sums[4 * b];
    blocks[b]->residual_squares = residuals.squares[4 * b];
  }
  Simd::summarize(blocks, table);
}

template <typename Simd>
void transform_blocks_of(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks) {
  constexpr std::size_t kBlocks = Simd::kBlocks;
  TransformedBlock* targets[kBlocks];
  std::size_t i = 0;
  for (; i + kBlocks <= pairs.size(); i += kBlocks) {
    for (std::size_t b = 0; b < kBlocks; ++b) targets[b] = blocks + i + b;
    const auto transform = come_in_twos<Simd>(pairs.data() + i) ? transform_together<Simd, true> : transform_together<Simd, false>;
    transform(pairs.data() + i, table, targets);
  }
  if (i == pairs.size()) return;
  BlockPair rest[kBlocks];  // the last block is repeated to fill a register
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const std::size_t from = i + b < pairs.size() ? i + b : pairs.size() - 1;
    rest[b] = pairs[from];
    targets[b] = blocks + from;
  }
  transform_together<Simd, false>(rest, table, targets);
}

}  // namespace
}  // namespace c63::cpu
