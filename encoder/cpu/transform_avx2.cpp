#if defined(C63_SIMD_X86)

// Transform, quantization and reconstruction with AVX2. A block is eight registers of eight binary32 values. Every
// output is summed as the format says: products in the order of the inputs, each product and each sum rounded.

#include "cpu/kernels_x86.h"

#include <immintrin.h>

#include <cstring>

#include "cpu/dct_columns.h"
#include "cpu/each_block.h"
#include "cpu/unroll.h"

namespace c63::cpu::avx2 {
namespace {

struct Block {
  __m256 rows[8];
};

[[gnu::always_inline]] inline Block transposed(const Block& in) {
  __m256 pairs[8];
  __m256 quads[8];
  Block out;
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    pairs[2 * k] = _mm256_unpacklo_ps(in.rows[2 * k], in.rows[2 * k + 1]);
    pairs[2 * k + 1] = _mm256_unpackhi_ps(in.rows[2 * k], in.rows[2 * k + 1]);
  });
  unroll<2>([&](auto h) __attribute__((always_inline)) {
    quads[4 * h] = _mm256_shuffle_ps(pairs[4 * h], pairs[4 * h + 2], 0x44);
    quads[4 * h + 1] = _mm256_shuffle_ps(pairs[4 * h], pairs[4 * h + 2], 0xEE);
    quads[4 * h + 2] = _mm256_shuffle_ps(pairs[4 * h + 1], pairs[4 * h + 3], 0x44);
    quads[4 * h + 3] = _mm256_shuffle_ps(pairs[4 * h + 1], pairs[4 * h + 3], 0xEE);
  });
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    out.rows[k] = _mm256_permute2f128_ps(quads[k], quads[k + 4], 0x20);
    out.rows[k + 4] = _mm256_permute2f128_ps(quads[k], quads[k + 4], 0x31);
  });
  return out;
}

/// Returns `first` in lane 0, and 1 in all other lanes.
[[gnu::always_inline]] inline __m256 in_lane_0(float first) { return _mm256_setr_ps(first, 1, 1, 1, 1, 1, 1, 1); }

/// Shuffle controls that reorder 64 16-bit values in eight registers: value 8·o+i of the output is value order[8·o+i]
/// of the input.
struct Reordering {
  /// PSHUFB's control for [output register][input register]; 0x80 if the value is in another input register.
  alignas(16) std::uint8_t bytes[8][8][16];
  bool used[8][8];

  template <typename Order>
  constexpr explicit Reordering(const Order& order) : bytes(), used() {
    for (std::size_t o = 0; o < 8; ++o) {
      for (std::size_t from = 0; from < 8; ++from) {
        for (std::size_t i = 0; i < 8; ++i) {
          const bool here = order(8 * o + i) / 8 == from;
          used[o][from] = used[o][from] || here;
          for (std::size_t b = 0; b < 2; ++b) {
            bytes[o][from][2 * i + b] = static_cast<std::uint8_t>(here ? order(8 * o + i) % 8 * 2 + b : 0x80);
          }
        }
      }
    }
  }
};

constexpr Reordering kToZigZag([](std::size_t k) -> std::size_t { return kZigZag[k]; });
/// From zig-zag order to raster order with rows and columns exchanged.
constexpr Reordering kToColumns([](std::size_t k) -> std::size_t { return kZigZagPlace[k % 8 * 8 + k / 8]; });

template <const Reordering& kOrder>
[[gnu::always_inline]] inline void reorder(const __m128i (&in)[8], __m128i (&out)[8]) {
  unroll<8>([&](auto o) __attribute__((always_inline)) {
    __m128i sum = _mm_setzero_si128();
    unroll<8>([&](auto from) __attribute__((always_inline)) {
      if constexpr (kOrder.used[o][from]) {
        const __m128i control = _mm_load_si128(reinterpret_cast<const __m128i*>(kOrder.bytes[o][from]));
        sum = _mm_or_si128(sum, _mm_shuffle_epi8(in[from], control));
      }
    });
    out[o] = sum;
  });
}

[[gnu::always_inline]] inline __m128i load_eight(const std::uint8_t* p) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
}

/// Converts two rows of 32-bit values to 16-bit values. They must fit.
[[gnu::always_inline]] inline __m256i packed(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xD8);
}

/// Returns row v of the levels. The level of coefficient F with step q is round(F / 4q), half away from zero.
/// TransformTable says why the quotient equals that of a division. Instead of 1/2, the largest number below it is
/// added. So a quotient just below n + 1/2 is not rounded up, but n + 1/2 is.
[[gnu::always_inline]] inline __m256i quantized(__m256 row, const TransformTable& table, int v) {
  const __m256 high = _mm256_load_ps(table.reciprocals.data() + 8 * v);
  const __m256 low = _mm256_load_ps(table.reciprocal_errors.data() + 8 * v);
  const __m256 quotient = _mm256_fmadd_ps(row, high, _mm256_mul_ps(row, low));
  const __m256 sign = _mm256_and_ps(row, _mm256_set1_ps(-0.0F));
  return _mm256_cvttps_epi32(_mm256_add_ps(quotient, _mm256_or_ps(sign, _mm256_set1_ps(0x1.fffffep-2F))));
}

/// Returns coefficients: round(level·q / 4), half away from zero, where q is the step of the level.
[[gnu::always_inline]] inline __m256 dequantized(__m128i levels, const std::int32_t* steps) {
  // The upper 16 bits of each step are zero, so the sum of the two 16-bit products is the product of the level and its
  // step.
  const __m256i product = _mm256_madd_epi16(_mm256_cvtepi16_epi32(levels),
                                            _mm256_load_si256(reinterpret_cast<const __m256i*>(steps)));
  const __m256i magnitude = _mm256_srli_epi32(_mm256_add_epi32(_mm256_abs_epi32(product), _mm256_set1_epi32(2)), 2);
  return _mm256_cvtepi32_ps(_mm256_sign_epi32(magnitude, product));
}

void code_block(const std::uint8_t* current, std::ptrdiff_t current_pitch, const BlockPrediction& prediction,
                const TransformTable& table, std::int16_t levels[64]) {
  Block block;
  unroll<8>([&](auto y) __attribute__((always_inline)) {
    const __m256i residual =
        _mm256_sub_epi32(_mm256_cvtepu8_epi32(load_eight(current + y * current_pitch)),
                         _mm256_cvtepu8_epi32(load_eight(prediction.samples + y * prediction.pitch)));
    block.rows[y] = _mm256_cvtepi32_ps(residual);
  });
  block = transform_columns<true>(transposed(transform_columns<true>(transposed(block))));
  for (__m256& row : block.rows) row = _mm256_mul_ps(row, in_lane_0(kDctScale));
  block.rows[0] = _mm256_mul_ps(block.rows[0], _mm256_set1_ps(kDctScale));

  __m128i raster[8];
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    const __m256i rows =
        packed(quantized(block.rows[2 * k], table, 2 * k), quantized(block.rows[2 * k + 1], table, 2 * k + 1));
    // The limits are in zig-zag order and the levels are not. That does not matter, because DC is first in both orders
    // and all limits of AC levels are equal.
    const __m256i limit = _mm256_load_si256(reinterpret_cast<const __m256i*>(table.limits.data() + 16 * k));
    const __m256i kept = _mm256_max_epi16(_mm256_min_epi16(rows, limit), _mm256_sub_epi16(_mm256_setzero_si256(), limit));
    raster[2 * k] = _mm256_castsi256_si128(kept);
    raster[2 * k + 1] = _mm256_extracti128_si256(kept, 1);
  });
  __m128i zig_zag[8];
  reorder<kToZigZag>(raster, zig_zag);
  unroll<8>([&](auto k) __attribute__((always_inline)) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(levels + 8 * k), zig_zag[k]);
  });
}

/// Adds two rows of residuals to the prediction and stores the samples.
[[gnu::always_inline]] inline void store_rows(__m256i residual, const BlockPrediction& prediction, int row,
                                              std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch) {
  const std::uint8_t* const from = prediction.samples + row * prediction.pitch;
  const __m256i sum = _mm256_add_epi16(
      residual, _mm256_cvtepu8_epi16(_mm_unpacklo_epi64(load_eight(from), load_eight(from + prediction.pitch))));
  const __m128i samples = _mm_packus_epi16(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  std::uint8_t* const to = reconstruction + row * reconstruction_pitch;
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), samples);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to + reconstruction_pitch), _mm_unpackhi_epi64(samples, samples));
}

void restore_block(const std::int16_t levels[64], const TransformTable& table, const BlockPrediction& prediction,
                   std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch) {
  __m128i zig_zag[8];
  __m128i any_ac = _mm_setzero_si128();
  unroll<8>([&](auto k) __attribute__((always_inline)) {
    zig_zag[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + 8 * k));
    any_ac = _mm_or_si128(any_ac, k == 0 ? _mm_insert_epi16(zig_zag[0], 0, 0) : zig_zag[k]);
  });
  if (_mm_testz_si128(any_ac, any_ac) != 0) {
    if (levels[0] == 0) {
      for (int y = 0; y < 8; ++y) {
        std::memmove(reconstruction + y * reconstruction_pitch, prediction.samples + y * prediction.pitch, 8);
      }
      return;
    }
    // There is only a DC level, so the residual is the same for all samples. Only its low 16 bits count, as the format
    // says.
    const float dc = static_cast<float>(dequantize(levels[0], table.steps[0])) * kDctScale * kDctScale;
    const __m256i residual = _mm256_set1_epi16(static_cast<short>(static_cast<std::int32_t>(dc)));
    unroll<4>([&](auto k) __attribute__((always_inline)) {
      store_rows(residual, prediction, 2 * k, reconstruction, reconstruction_pitch);
    });
    return;
  }
  __m128i columns[8];
  reorder<kToColumns>(zig_zag, columns);
  Block block;  // transposed for the first pass
  unroll<8>([&](auto u) __attribute__((always_inline)) {
    block.rows[u] = dequantized(columns[u], table.column_steps.data() + 8 * u);
  });
  block.rows[0] = _mm256_mul_ps(block.rows[0], _mm256_set1_ps(kDctScale));
  for (__m256& row : block.rows) row = _mm256_mul_ps(row, in_lane_0(kDctScale));
  block = transform_columns<false>(transposed(transform_columns<false>(block)));

  unroll<4>([&](auto k) __attribute__((always_inline)) {
    // Residuals are truncated to 16 bits, not saturated. The format requires this, even if hostile input makes them
    // larger.
    const auto cut = [](__m256 row) { return _mm256_and_si256(_mm256_cvttps_epi32(row), _mm256_set1_epi32(0xFFFF)); };
    const __m256i residual = _mm256_permute4x64_epi64(
        _mm256_packus_epi32(cut(block.rows[2 * k]), cut(block.rows[2 * k + 1])), 0xD8);
    store_rows(residual, prediction, 2 * k, reconstruction, reconstruction_pitch);
  });
}

}  // namespace

void transform_quantize(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                 std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels) {
  transform_quantize_each<code_block>(current, current_pitch, predictions, table, levels);
}

void dequantize_reconstruct(const std::int16_t* levels, const TransformTable& table,
                    std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                    std::ptrdiff_t reconstruction_pitch) {
  dequantize_reconstruct_each<restore_block>(levels, table, predictions, reconstruction, reconstruction_pitch);
}

}  // namespace c63::cpu::avx2

#endif
