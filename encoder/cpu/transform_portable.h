#pragma once

// Transform, quantization and reconstruction of blocks with Highway, as in kernels_portable.h: a register holds a row of
// a block, or half of one. Every output is summed as the format says: products in the order of the inputs, each product
// and each sum rounded.

#include <hwy/highway.h>

#include <cstring>
#include <utility>

#include "codec/dct.h"
#include "cpu/dct_columns.h"
#include "cpu/each_block.h"
#include "cpu/kernels.h"
#include "cpu/reorder.h"
#include "cpu/unroll.h"

namespace c63::cpu {
namespace {
namespace portable {

using Floats = hn::CappedTag<float, 8>;
using Integers = hn::RebindToSigned<Floats>;
using Shorts = hn::Repartition<std::int16_t, Floats>;
using ShortRow = hn::Full128<std::int16_t>;
using EightBytes = hn::Full64<std::uint8_t>;
constexpr std::size_t kFloats = hn::MaxLanes(Floats());
constexpr int kParts = 8 / kFloats;     ///< registers of a row of binary32 values
constexpr int kShortRows = kFloats / 4;  ///< rows of 16-bit numbers in a register

/// All rows of kFloats columns.
struct Part {
  hn::Vec<Floats> rows[8];
};
struct Block {
  Part parts[kParts];
};

template <typename F>
[[gnu::always_inline]] inline void for_each_register(Block& block, F&& f) {
  unroll<kParts>([&](auto p) __attribute__((always_inline)) {
    unroll<8>([&](auto v) __attribute__((always_inline)) { f(p, v, block.parts[p].rows[v]); });
  });
}

template <bool kForward>
[[gnu::always_inline]] inline Block transformed(const Block& in) {
  Block out;
  unroll<kParts>([&](auto p) __attribute__((always_inline)) { out.parts[p] = transform_columns<kForward>(in.parts[p]); });
  return out;
}

[[gnu::always_inline]] inline Block transposed(const Block& in) {
  const Floats d;
  const hn::RepartitionToWide<hn::RebindToUnsigned<Floats>> pairs;
  Block out;
  unroll<kParts>([&](auto p) __attribute__((always_inline)) {
    hn::Vec<Floats> quads[2][4];  // four columns of rows 0 to 3, and of rows 4 to 7; in 8 lanes also the next four columns
    unroll<2>([&](auto h) __attribute__((always_inline)) {
      const hn::Vec<Floats>* const rows = in.parts[p].rows + 4 * h;
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, rows[0], rows[1]));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, rows[2], rows[3]));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, rows[0], rows[1]));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, rows[2], rows[3]));
      quads[h][0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
      quads[h][1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
      quads[h][2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
      quads[h][3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
    });
    unroll<4>([&](auto k) __attribute__((always_inline)) {
      if constexpr (kParts == 2) {
        out.parts[0].rows[4 * p + k] = quads[0][k];
        out.parts[1].rows[4 * p + k] = quads[1][k];
      } else {
        out.parts[0].rows[k] = hn::ConcatLowerLower(d, quads[1][k], quads[0][k]);
        out.parts[0].rows[k + 4] = hn::ConcatUpperUpper(d, quads[1][k], quads[0][k]);
      }
    });
  });
  return out;
}

/// Multiplies the first row and the first column of coefficients by kDctScale.
[[gnu::always_inline]] inline void scale(Block& block) {
  alignas(32) static constexpr float kFirstColumn[8] = {kDctScale, 1, 1, 1, 1, 1, 1, 1};
  for_each_register(block, [&](auto p, auto v, hn::Vec<Floats>& row) __attribute__((always_inline)) {
    if constexpr (p == 0) row = hn::Mul(row, hn::Load(Floats(), kFirstColumn));
    if constexpr (v == 0) row = hn::Mul(row, hn::Set(Floats(), kDctScale));
  });
}

/// Returns the levels of coefficients of row v, from column kFloats·p on. The level of coefficient F with step q is
/// round(F / 4q), half away from zero. TransformTable says why a product with the reciprocal may replace the division, if
/// it is fused with an addition. Instead of 1/2, the largest number below it is added. So a quotient just below n + 1/2
/// is not rounded up, but n + 1/2 is.
[[gnu::always_inline]] inline hn::Vec<Integers> quantized(hn::Vec<Floats> row, const TransformTable& table, int p, int v) {
  const Floats d;
  const std::size_t at = static_cast<std::size_t>(8 * v) + kFloats * static_cast<std::size_t>(p);
#if HWY_NATIVE_FMA
  const auto quotient = hn::MulAdd(row, hn::Load(d, table.reciprocals.data() + at),
                                   hn::Mul(row, hn::Load(d, table.reciprocal_errors.data() + at)));
#else
  const auto quotient = hn::Div(row, hn::Load(d, table.divisors.data() + at));
#endif
  return truncated(hn::Add(quotient, hn::CopySignToAbs(hn::Set(d, 0x1.fffffep-2F), row)));
}

/// Returns coefficients: round(level·q / 4), half away from zero, where q is the step of the level.
[[gnu::always_inline]] inline hn::Vec<Floats> dequantized(hn::Vec<Integers> levels, hn::Vec<Integers> steps) {
  const Floats d;
  [[maybe_unused]] const Integers di;
#if defined(C63_SIMD_X86)
  // The upper 16 bits of each step are zero, so the sum of the two 16-bit products is the product of the level and its
  // step. This takes less time than a product of 32-bit numbers.
  auto unused = hn::Zero(di);
  const auto product = hn::ReorderWidenMulAccumulate(di, hn::BitCast(Shorts(), levels), hn::BitCast(Shorts(), steps), hn::Zero(di), unused);
#else
  const auto product = hn::Mul(levels, steps);
#endif
#if HWY_NATIVE_FMA
  // The product is below 2^23, so binary32 holds it. It is multiplied by the next number above 1/4. That moves ties, so
  // that they are rounded away from zero, and changes no other result. Then adding 1.5·2^23 rounds the result to an
  // integer, because binary32 numbers of that size have no fraction bits.
  const auto integers = hn::Set(d, 0x1.8p23F);
  return hn::Sub(hn::MulAdd(hn::ConvertTo(d, product), hn::Set(d, 0x1.000002p-2F), integers), integers);
#else
  const auto sign = hn::BroadcastSignBit(product);  // 0 or -1; (v ^ sign) - sign is v or -v
  const auto magnitude = hn::ShiftRight<2>(hn::Add(hn::Abs(product), hn::Set(di, 2)));
  return hn::ConvertTo(d, hn::Sub(hn::Xor(magnitude, sign), sign));
#endif
}

/// Returns the two registers that become register i of 16-bit numbers: the rows 2i and 2i + 1, or the two halves of row i.
template <int i>
[[gnu::always_inline]] inline std::pair<hn::Vec<Floats>, hn::Vec<Floats>> two_registers(const Block& block) {
  if constexpr (kParts == 2) {
    return {block.parts[0].rows[i], block.parts[1].rows[i]};
  } else {
    return {block.parts[0].rows[2 * i], block.parts[0].rows[2 * i + 1]};
  }
}

/// From the output of hn::ReorderDemote2To() to zig-zag order. If two rows are packed in one register, its lower half has
/// the first four numbers of both, and its upper half the last four.
constexpr Reordering kToZigZag([](std::size_t k) -> std::size_t {
  const std::size_t v = kZigZag[k] / 8U;
  const std::size_t u = kZigZag[k] % 8U;
  return kShortRows == 1 ? kZigZag[k] : 16 * (v / 2) + 8 * (u / 4) + 4 * (v % 2) + u % 4;
});
/// From zig-zag order to raster order with rows and columns exchanged.
constexpr Reordering kToColumns([](std::size_t k) -> std::size_t { return kZigZagPlace[k % 8 * 8 + k / 8]; });

void code_block(const std::uint8_t* current, std::ptrdiff_t current_pitch, const BlockPrediction& prediction,
                const TransformTable& table, std::int16_t levels[64]) {
  const hn::Rebind<std::uint8_t, Floats> bytes;
  Block block;
  for_each_register(block, [&](auto p, auto y, hn::Vec<Floats>& row) __attribute__((always_inline)) {
    const auto own = hn::PromoteTo(Integers(), hn::LoadU(bytes, current + y * current_pitch + kFloats * p));
    const auto other = hn::PromoteTo(Integers(), hn::LoadU(bytes, prediction.samples + y * prediction.pitch + kFloats * p));
    row = hn::ConvertTo(Floats(), hn::Sub(own, other));
  });
  block = transformed<true>(transposed(transformed<true>(transposed(block))));
  scale(block);
  hn::Vec<ShortRow> raster[8];
  unroll<8 / kShortRows>([&](auto i) __attribute__((always_inline)) {
    const auto [first, second] = two_registers<i>(block);
    const auto rows = hn::ReorderDemote2To(Shorts(), quantized(first, table, 0, kShortRows * i),
                                           quantized(second, table, kParts - 1, kShortRows * i + 2 - kParts));
    // The limits are in zig-zag order and the levels are not. That does not matter, because DC is first in both orders
    // and all limits of AC levels are equal.
    const auto limit = hn::Load(Shorts(), table.limits.data() + hn::MaxLanes(Shorts()) * i);
    const auto kept = hn::Max(hn::Min(rows, limit), hn::Neg(limit));
    split<8>(Shorts(), kept, [&](auto row, std::size_t r) __attribute__((always_inline)) { raster[kShortRows * i + r] = row; });
  });
  unroll<8>([&](auto k) __attribute__((always_inline)) {
    hn::StoreU(reordered<kToZigZag, k>(ShortRow(), raster), ShortRow(), levels + 8 * k);
  });
}

/// Adds kShortRows rows of residuals to the prediction, from row y on, and stores the samples.
[[gnu::always_inline]] inline void store_rows(hn::Vec<Shorts> residual, const BlockPrediction& prediction, int y,
                                              std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch) {
  const EightBytes eight;
  const hn::Rebind<std::uint8_t, Shorts> bytes;
  const auto row = [&](int i) __attribute__((always_inline)) { return hn::LoadU(eight, prediction.samples + (y + i) * prediction.pitch); };
  const auto samples = hn::DemoteTo(bytes, hn::Add(residual, hn::PromoteTo(Shorts(), eights<kShortRows>(row))));
  std::uint8_t* const to = reconstruction + y * reconstruction_pitch;
  split<8>(bytes, samples, [&](auto eight_samples, std::size_t i) __attribute__((always_inline)) {
    hn::StoreU(eight_samples, eight, to + static_cast<std::ptrdiff_t>(i) * reconstruction_pitch);
  });
}

void restore_block(const std::int16_t levels[64], const TransformTable& table, const BlockPrediction& prediction,
                   std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch) {
  const ShortRow d;
  hn::Vec<ShortRow> zig_zag[8];
  auto any_ac = hn::Zero(d);
  unroll<8>([&](auto k) __attribute__((always_inline)) {
    alignas(16) static constexpr std::int16_t kWithoutDc[8] = {0, -1, -1, -1, -1, -1, -1, -1};
    zig_zag[k] = hn::LoadU(d, levels + 8 * k);
    any_ac = hn::Or(any_ac, k == 0 ? hn::And(zig_zag[0], hn::Load(d, kWithoutDc)) : zig_zag[k]);
  });
  if (hn::AllTrue(d, hn::Eq(any_ac, hn::Zero(d)))) {
    if (levels[0] == 0) {
      for (int y = 0; y < 8; ++y) {
        std::memmove(reconstruction + y * reconstruction_pitch, prediction.samples + y * prediction.pitch, 8);
      }
      return;
    }
    // There is only a DC level, so the residual is the same for all samples. Only its low 16 bits count, as the format
    // says.
    const float dc = static_cast<float>(dequantize(levels[0], table.steps[0])) * kDctScale * kDctScale;
    const auto residual = hn::Set(Shorts(), static_cast<std::int16_t>(static_cast<std::int32_t>(dc)));
    unroll<8 / kShortRows>([&](auto i) __attribute__((always_inline)) {
      store_rows(residual, prediction, kShortRows * i, reconstruction, reconstruction_pitch);
    });
    return;
  }
  Block block;  // transposed for the first pass
  unroll<8>([&](auto u) __attribute__((always_inline)) {
    split<kFloats>(d, reordered<kToColumns, u>(d, zig_zag), [&](auto column, std::size_t p) __attribute__((always_inline)) {
      const auto steps = hn::Load(Integers(), table.column_steps.data() + 8 * u + kFloats * p);
      block.parts[p].rows[u] = dequantized(hn::PromoteTo(Integers(), column), steps);
    });
  });
  scale(block);
  block = transformed<false>(transposed(transformed<false>(block)));
  unroll<8 / kShortRows>([&](auto i) __attribute__((always_inline)) {
    // Residuals are truncated to 16 bits, not saturated. The format requires this, even if hostile input makes them
    // larger.
    const auto [first, second] = two_registers<i>(block);
    const auto residual = hn::ConcatEven(Shorts(), hn::BitCast(Shorts(), truncated(second)), hn::BitCast(Shorts(), truncated(first)));
    store_rows(residual, prediction, kShortRows * i, reconstruction, reconstruction_pitch);
  });
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
