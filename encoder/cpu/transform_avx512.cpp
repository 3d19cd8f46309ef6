#if defined(C63_SIMD_X86)

// Transform, quantization and reconstruction with AVX-512, for four neighbouring blocks A, B, C and D at a time. A and
// C are transformed together, and so are B and D: a register holds the same row or column ("line") of both. A lane is
// 128 bits: four binary32 values, the low or the high half of a line. Every output is summed as the format says:
// products in the order of the inputs, each product and each sum rounded.

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/dct.h"
#include "cpu/dct_columns.h"
#include "cpu/kernels_avx512.h"
#include "cpu/unroll.h"

namespace c63::cpu::avx512 {
namespace {

constexpr int kBlocks = 4;

/// Two blocks of binary32 values. Each register has the same line of both.
struct BlockPair {
  __m512 rows[8];
};

/// Transposes both blocks. Each output register has the low and the high half of a line of the first block, then those
/// of the second. Input registers of the inverse transform have the same order. Input registers of the forward
/// transform have the low halves of both blocks, then the high halves.
template <bool kForward, int kInputs = 8>
[[gnu::always_inline]] inline BlockPair transposed(const BlockPair& in) {
  // lines k and k + 4 of the result: quads[k] has their first halves, quads[k + 4] their second halves
  __m512d quads[8];
  unroll<2>([&](auto h) __attribute__((always_inline)) {
    const __m512* const rows = in.rows + 4 * h;
    const __m512d low01 = _mm512_castps_pd(_mm512_unpacklo_ps(rows[0], rows[1]));
    const __m512d low23 = _mm512_castps_pd(_mm512_unpacklo_ps(rows[2], rows[3]));
    const __m512d high01 = _mm512_castps_pd(_mm512_unpackhi_ps(rows[0], rows[1]));
    const __m512d high23 = _mm512_castps_pd(_mm512_unpackhi_ps(rows[2], rows[3]));
    quads[4 * h] = _mm512_unpacklo_pd(low01, low23);
    quads[4 * h + 1] = _mm512_unpackhi_pd(low01, low23);
    quads[4 * h + 2] = _mm512_unpacklo_pd(high01, high23);
    quads[4 * h + 3] = _mm512_unpackhi_pd(high01, high23);
  });
  const __m512i first =
      kForward ? _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11) : _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i second =
      kForward ? _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15) : _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  BlockPair out;
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    out.rows[k] = _mm512_castpd_ps(_mm512_permutex2var_pd(quads[k], first, quads[k + 4]));
    if constexpr (kInputs > 4) {
      out.rows[k + 4] = _mm512_castpd_ps(_mm512_permutex2var_pd(quads[k], second, quads[k + 4]));
    }
  });
  return out;
}

/// Multiplies the first coefficient of every line by kDctScale, and then the whole first line. The result is the same
/// whether lines are rows or columns.
template <int kLines = 8>
[[gnu::always_inline]] inline void scale(BlockPair& block) {
  constexpr __mmask16 kFirst = 0x0101;
  const __m512 factor = _mm512_set1_ps(kDctScale);
  for (int k = 0; k < kLines; ++k) block.rows[k] = _mm512_mask_mul_ps(block.rows[k], kFirst, block.rows[k], factor);
  block.rows[0] = _mm512_mul_ps(block.rows[0], factor);
}

/// The predictions of four blocks. If there are fewer blocks, the last prediction is repeated.
struct FourPredictions {
  BlockPrediction blocks[kBlocks];

  FourPredictions(const BlockPrediction* predictions, int count) {
    for (int i = 0; i < kBlocks; ++i) blocks[i] = predictions[std::min(i, count - 1)];
  }

  /// Loads row y of all four predictions.
  [[nodiscard, gnu::always_inline]] __m256i row(int y) const {
    const auto eight = [&](int i) {
      std::int64_t samples;
      std::memcpy(&samples, blocks[i].samples + y * blocks[i].pitch, sizeof samples);
      return samples;
    };
    __m256i row = _mm256_castsi128_si256(_mm_cvtsi64_si128(eight(0)));
    row = _mm256_mask_set1_epi64(row, 2, eight(1));
    row = _mm256_mask_set1_epi64(row, 4, eight(2));
    return _mm256_mask_set1_epi64(row, 8, eight(3));
  }
};

/// Returns a register with one row of four blocks in its lower half, and another row in its upper half.
[[gnu::always_inline]] inline __m512i two_rows(__m256i first, __m256i second) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

[[gnu::always_inline]] inline __m256i load_row(const std::uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

/// Converts the residuals of two blocks to columns of binary32 values. Each output register has the low halves of a
/// column of both blocks, then the high halves. Register y of `rows` has row y of both blocks, then row y + 4 of both,
/// as 16-bit numbers.
[[gnu::always_inline]] inline BlockPair to_columns(const __m512i (&rows)[4]) {
  const __m512i low01 = _mm512_unpacklo_epi32(rows[0], rows[1]);
  const __m512i low23 = _mm512_unpacklo_epi32(rows[2], rows[3]);
  const __m512i high01 = _mm512_unpackhi_epi32(rows[0], rows[1]);
  const __m512i high23 = _mm512_unpackhi_epi32(rows[2], rows[3]);
  const __m512i pairs[4] = {_mm512_unpacklo_epi64(low01, low23), _mm512_unpackhi_epi64(low01, low23),
                            _mm512_unpacklo_epi64(high01, high23), _mm512_unpackhi_epi64(high01, high23)};
  BlockPair columns;
  // Each 32-bit number of `pairs` has a residual of one column in its lower 16 bits, and one of the next column in its
  // upper 16.
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    columns.rows[2 * k] = _mm512_cvtepi32_ps(_mm512_madd_epi16(pairs[k], _mm512_set1_epi32(1)));
    columns.rows[2 * k + 1] = _mm512_cvtepi32_ps(_mm512_madd_epi16(pairs[k], _mm512_set1_epi32(1 << 16)));
  });
  return columns;
}

/// Quantizes row v of two blocks. The level of coefficient F with step q is round(F / 4q), half away from zero.
/// TransformTable says why the quotient equals that of a division. Instead of 1/2, the largest number below it is
/// added. So a quotient just below n + 1/2 is not rounded up, but n + 1/2 is.
[[gnu::always_inline]] inline __m512i quantized(__m512 row, const TransformTable& table, int v) {
  const __m512 high = _mm512_broadcast_f32x8(_mm256_load_ps(table.reciprocals.data() + 8 * v));
  const __m512 low = _mm512_broadcast_f32x8(_mm256_load_ps(table.reciprocal_errors.data() + 8 * v));
  const __m512 quotient = _mm512_fmadd_ps(row, high, _mm512_mul_ps(row, low));
  constexpr int kSignOfFirstOrThird = 0xEA;  // first & second | third
  const __m512 below_half = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
      _mm512_castps_si512(row), _mm512_set1_epi32(INT32_MIN), _mm512_set1_epi32(0x3EFFFFFF), kSignOfFirstOrThird));
  return _mm512_cvttps_epi32(_mm512_add_ps(quotient, below_half));
}

/// For each position in zig-zag order, the index of its level in rows0123 and rows4567, the registers that
/// store_levels() gets.
constexpr auto kToZigZag = [] {
  std::array<std::uint16_t, 64> order{};
  for (std::size_t k = 0; k < 64; ++k) {
    const std::size_t v = kZigZag[k] / 8U;
    const std::size_t u = kZigZag[k] % 8U;
    order[k] = static_cast<std::uint16_t>(16 * (v / 2) + 8 * (u / 4) + 4 * (v % 2) + u % 4);
  }
  return order;
}();

/// For pairs of columns, the positions of their levels in zig-zag order: column u in the lower 16 bits, u + 1 in the
/// upper 16.
constexpr auto kToColumnPairs = [] {
  std::array<std::uint16_t, 64> order{};
  for (std::size_t u = 0; u < 8; ++u) {
    for (std::size_t v = 0; v < 8; ++v) {
      order[16 * (u / 2) + 2 * v + u % 2] = kZigZagPlace[8 * v + u];
    }
  }
  return order;
}();

/// Reorders 64 levels, given as rows, to zig-zag order, limits them to what can be coded, and stores them.
[[gnu::always_inline]] inline void store_levels(__m512i rows0123, __m512i rows4567, const TransformTable& table,
                                                std::int16_t* levels) {
  unroll<2>([&](auto half) __attribute__((always_inline)) {
    const __m512i zig_zag =
        _mm512_permutex2var_epi16(rows0123, _mm512_loadu_si512(kToZigZag.data() + 32 * half), rows4567);
    const __m512i limit = _mm512_load_si512(table.limits.data() + 32 * half);
    const __m512i kept =
        _mm512_max_epi16(_mm512_min_epi16(zig_zag, limit), _mm512_sub_epi16(_mm512_setzero_si512(), limit));
    _mm512_storeu_si512(levels + 32 * half, kept);
  });
}

/// Transforms and quantizes two blocks. If `second` is null, the second block is not stored.
[[gnu::always_inline]] inline void code_pair(const __m512i (&residual)[4], const TransformTable& table,
                                             std::int16_t* first, std::int16_t* second) {
  BlockPair block = transform_columns<true>(to_columns(residual));
  block = transform_columns<true>(transposed<true>(block));
  scale(block);
  __m512i rows[4];
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    rows[k] = _mm512_packs_epi32(quantized(block.rows[2 * k], table, 2 * k),
                                 quantized(block.rows[2 * k + 1], table, 2 * k + 1));
  });
  store_levels(_mm512_shuffle_i64x2(rows[0], rows[1], 0x44), _mm512_shuffle_i64x2(rows[2], rows[3], 0x44), table,
               first);
  if (second == nullptr) return;
  store_levels(_mm512_shuffle_i64x2(rows[0], rows[1], 0xEE), _mm512_shuffle_i64x2(rows[2], rows[3], 0xEE), table,
               second);
}

/// Transforms and quantizes `count` blocks. The samples of four blocks are always read. If there are fewer, kPlaneGuard
/// says that the samples after them are readable.
void code_four(const std::uint8_t* current, std::ptrdiff_t current_pitch, const FourPredictions& predictions, int count,
               const TransformTable& table, std::int16_t* levels) {
  __m512i a_and_c[4];
  __m512i b_and_d[4];
  unroll<4>([&](auto y) __attribute__((always_inline)) {
    const __m512i samples =
        two_rows(load_row(current + y * current_pitch), load_row(current + (y + 4) * current_pitch));
    const __m512i predicted = two_rows(predictions.row(y), predictions.row(y + 4));
    const __m512i difference = _mm512_set1_epi16(static_cast<short>(0xFF01));  // one byte of each pair minus the other
    a_and_c[y] = _mm512_maddubs_epi16(_mm512_unpacklo_epi8(samples, predicted), difference);
    b_and_d[y] = _mm512_maddubs_epi16(_mm512_unpackhi_epi8(samples, predicted), difference);
  });
  code_pair(a_and_c, table, levels, count > 2 ? levels + 2 * kBlockSamples : nullptr);
  if (count > 1) {
    code_pair(b_and_d, table, levels + kBlockSamples, count > 3 ? levels + 3 * kBlockSamples : nullptr);
  }
}

/// The 64 levels of one block.
struct Levels {
  __m512i first;
  __m512i second;

  explicit Levels(const std::int16_t* levels)
      : first(_mm512_loadu_si512(levels)), second(_mm512_loadu_si512(levels + 32)) {}

  /// Returns pairs of columns. Half 0: columns 0 and 1 in the lower half of the register, 2 and 3 in the upper. Half 1:
  /// 4 and 5, and 6 and 7.
  [[nodiscard, gnu::always_inline]] __m512i column_pairs(int half) const {
    return _mm512_permutex2var_epi16(first, _mm512_loadu_si512(kToColumnPairs.data() + 32 * half), second);
  }
};

/// Dequantizes a column of coefficients: round(level·q / 4), half away from zero, where q is the step. `levels` has the
/// levels of two columns. `steps` is zero for one of them, so the sum of both products is level·q of the other column.
/// This product is below 2^23, so binary32 holds it. It is multiplied by the next number above 1/4. That moves ties, so
/// that they are rounded away from zero, and changes no other result. Then adding 1.5·2^23 rounds the result to an
/// integer, because binary32 numbers of that size have no fraction bits.
[[gnu::always_inline]] inline __m512 dequantized(__m512i levels, const std::int32_t* steps) {
  const __m512i both = _mm512_broadcast_i32x8(_mm256_load_si256(reinterpret_cast<const __m256i*>(steps)));
  const __m512 product = _mm512_cvtepi32_ps(_mm512_madd_epi16(levels, both));
  const __m512 integers = _mm512_set1_ps(0x1.8p23F);
  return _mm512_sub_ps(_mm512_fmadd_ps(product, _mm512_set1_ps(0x1.000002p-2F), integers), integers);
}

/// Returns the residual of two blocks as rows of 32-bit integers: low and high half of the first block, then of the
/// second. Only the first kLines rows and columns of coefficients may be other than zero.
template <int kLines>
[[gnu::always_inline]] inline void residual_of_pair(const Levels& first, const Levels& second,
                                                    const TransformTable& table, __m512i (&residual)[8]) {
  BlockPair block;
  unroll<kLines / 4>([&](auto half) __attribute__((always_inline)) {
    const __m512i a = first.column_pairs(half);
    const __m512i b = second.column_pairs(half);
    const __m512i pairs[2] = {_mm512_shuffle_i64x2(a, b, 0x44), _mm512_shuffle_i64x2(a, b, 0xEE)};
    unroll<4>([&](auto u) __attribute__((always_inline)) {
      block.rows[4 * half + u] = dequantized(pairs[u / 2], table.column_pair_steps.data() + 8 * (4 * half + u));
    });
  });
  scale<kLines>(block);
  block = transform_columns<false, kLines>(block);
  block = transform_columns<false, kLines>(transposed<false, kLines>(block));
  unroll<8>([&](auto y) __attribute__((always_inline)) { residual[y] = _mm512_cvttps_epi32(block.rows[y]); });
}

/// Reconstructs four blocks. Stores those whose bit in `mask` is set.
template <int kLines>
void restore_four(const Levels (&levels)[kBlocks], const TransformTable& table, const FourPredictions& predictions,
                  __mmask8 mask, std::uint8_t* reconstruction, std::ptrdiff_t pitch) {
  __m512i a_and_c[8];
  __m512i b_and_d[8];
  residual_of_pair<kLines>(levels[0], levels[2], table, a_and_c);
  residual_of_pair<kLines>(levels[1], levels[3], table, b_and_d);
  // to_halves gives each lane half rows of two blocks: the low halves of A and B, the high halves of A and B, the low
  // halves of C and D, the high halves of C and D. to_rows joins the halves to whole rows again.
  const __m512i to_halves = _mm512_setr_epi32(0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15);
  const __m512i to_rows = _mm512_setr_epi32(0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15);
  const __m512i zero = _mm512_setzero_si512();
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    // Residuals are truncated to 16 bits, not saturated. The format requires this, even if hostile input makes them
    // larger.
    const auto cut = [](__m512i row) { return _mm512_and_si512(row, _mm512_set1_epi32(0xFFFF)); };
    const __m512i predicted =
        _mm512_permutexvar_epi32(to_halves, two_rows(predictions.row(2 * k), predictions.row(2 * k + 1)));
    const __m512i first = _mm512_add_epi16(_mm512_packus_epi32(cut(a_and_c[2 * k]), cut(b_and_d[2 * k])),
                                           _mm512_unpacklo_epi8(predicted, zero));
    const __m512i second = _mm512_add_epi16(_mm512_packus_epi32(cut(a_and_c[2 * k + 1]), cut(b_and_d[2 * k + 1])),
                                            _mm512_unpackhi_epi8(predicted, zero));
    const __m512i samples = _mm512_permutexvar_epi32(to_rows, _mm512_packus_epi16(first, second));
    std::uint8_t* const to = reconstruction + 2 * k * pitch;
    _mm256_mask_storeu_epi64(to, mask, _mm512_castsi512_si256(samples));
    _mm256_mask_storeu_epi64(to + pitch, mask, _mm512_extracti64x4_epi64(samples, 1));
  });
}

/// Reconstructs four blocks that have only a DC coefficient: one number is added to all samples of a block.
void restore_flat(const Levels (&levels)[kBlocks], const TransformTable& table, const FourPredictions& predictions,
                  __mmask8 mask, std::uint8_t* reconstruction, std::ptrdiff_t pitch) {
  __m512i residual = _mm512_setzero_si512();
  for (int b = 0; b < kBlocks; ++b) {
    const auto level = static_cast<std::int16_t>(_mm_cvtsi128_si32(_mm512_castsi512_si128(levels[b].first)));
    const auto value = static_cast<float>(dequantize(level, table.steps[0]));
    const auto flat = static_cast<std::int32_t>(scale_coefficient(value, 0, 0));
    residual = _mm512_mask_set1_epi16(residual, 0xFFU << (kBlockSize * b), static_cast<short>(flat));
  }
  for (int y = 0; y < kBlockSize; ++y) {
    const __m512i sum = _mm512_add_epi16(_mm512_cvtepu8_epi16(predictions.row(y)), residual);
    const __m256i samples = _mm512_cvtusepi16_epi8(_mm512_max_epi16(sum, _mm512_setzero_si512()));
    _mm256_mask_storeu_epi64(reconstruction + y * pitch, mask, samples);
  }
}

/// A mask of positions in zig-zag order: the bit of a position is set if it is outside the first four rows and columns.
constexpr std::uint64_t kOutsideQuadrant = [] {
  std::uint64_t mask = 0;
  for (std::size_t k = 0; k < 64; ++k) mask |= std::uint64_t{kZigZag[k] / 8 >= 4 || kZigZag[k] % 8 >= 4} << k;
  return mask;
}();

}  // namespace

void transform_quantize(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                 std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels) {
  const int count = static_cast<int>(predictions.size());
  for (int i = 0; i < count; i += kBlocks) {
    const int blocks = std::min(count - i, kBlocks);
    code_four(current + kBlockSize * i, current_pitch, {predictions.data() + i, blocks}, blocks, table,
              levels + kBlockSamples * i);
  }
}

void dequantize_reconstruct(const std::int16_t* levels, const TransformTable& table,
                    std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                    std::ptrdiff_t reconstruction_pitch) {
  const int count = static_cast<int>(predictions.size());
  for (int i = 0; i < count; i += kBlocks) {
    const int blocks = std::min(count - i, kBlocks);
    const FourPredictions from(predictions.data() + i, blocks);
    const auto of_block = [&](int b) { return Levels(levels + kBlockSamples * (i + std::min(b, blocks - 1))); };
    const Levels four[kBlocks] = {of_block(0), of_block(1), of_block(2), of_block(3)};
    const __m512i first =
        _mm512_or_si512(_mm512_or_si512(four[0].first, four[1].first), _mm512_or_si512(four[2].first, four[3].first));
    const __m512i second = _mm512_or_si512(_mm512_or_si512(four[0].second, four[1].second),
                                           _mm512_or_si512(four[2].second, four[3].second));
    const std::uint64_t nonzero =
        _mm512_test_epi16_mask(first, first) | static_cast<std::uint64_t>(_mm512_test_epi16_mask(second, second)) << 32;
    const auto mask = static_cast<__mmask8>((1U << blocks) - 1U);
    std::uint8_t* const to = reconstruction + kBlockSize * i;
    if (nonzero == 0) {
      for (int y = 0; y < kBlockSize; ++y) _mm256_mask_storeu_epi64(to + y * reconstruction_pitch, mask, from.row(y));
    } else if (nonzero == 1) {
      restore_flat(four, table, from, mask, to, reconstruction_pitch);
    } else if ((nonzero & kOutsideQuadrant) == 0) {
      restore_four<4>(four, table, from, mask, to, reconstruction_pitch);
    } else {
      restore_four<8>(four, table, from, mask, to, reconstruction_pitch);
    }
  }
}

void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums) {
  const __m512i ones = _mm512_set1_epi16(1);
  for (int block = 0; block < count; block += 8) {
    const int blocks = std::min(count - block, 8);
    const auto valid = static_cast<__mmask32>(blocks == 8 ? ~0U : (1U << (4 * blocks)) - 1U);
    // Each 32-bit value adds up two neighbouring samples, so a row of a 4x4 block takes two values.
    __m512i sum_a = _mm512_setzero_si512();
    __m512i sum_b = sum_a;
    __m512i squares = sum_a;
    __m512i products = sum_a;
    for (int y = 0; y < 4; ++y) {
      const __m512i p = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(valid, a + y * a_pitch + 4 * block));
      const __m512i q = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(valid, b + y * b_pitch + 4 * block));
      sum_a = _mm512_add_epi32(sum_a, _mm512_madd_epi16(p, ones));
      sum_b = _mm512_add_epi32(sum_b, _mm512_madd_epi16(q, ones));
      squares = _mm512_add_epi32(squares, _mm512_add_epi32(_mm512_madd_epi16(p, p), _mm512_madd_epi16(q, q)));
      products = _mm512_add_epi32(products, _mm512_madd_epi16(p, q));
    }
    const auto fold = [](__m512i v) {
      return _mm512_cvtepi64_epi32(_mm512_add_epi64(v, _mm512_srli_epi64(v, 32)));
    };
    alignas(32) std::int32_t values[4][8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(values[0]), fold(sum_a));
    _mm256_store_si256(reinterpret_cast<__m256i*>(values[1]), fold(sum_b));
    _mm256_store_si256(reinterpret_cast<__m256i*>(values[2]), fold(squares));
    _mm256_store_si256(reinterpret_cast<__m256i*>(values[3]), fold(products));
    for (int i = 0; i < blocks; ++i) sums[block + i] = {values[0][i], values[1][i], values[2][i], values[3][i]};
  }
}

}  // namespace c63::cpu::avx512

#endif
