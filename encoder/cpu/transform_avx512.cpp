#if defined(C63_SIMD_X86)

// Transform, quantization and reconstruction with AVX-512. A block of 64 binary32 values is four registers of two rows
// each. Every output is the sum of the format: products in ascending order, each product and each sum rounded.

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/dct.h"
#include "cpu/each_block.h"
#include "cpu/kernels_avx512.h"

namespace c63::cpu::avx512 {
namespace {

/// Position k of the zig-zag order in raster order, and the other way round.
constexpr auto kToZigZag = [] {
  std::array<std::uint16_t, 64> positions{};
  for (std::size_t k = 0; k < 64; ++k) positions[k] = kZigZag[k];
  return positions;
}();
constexpr auto kToRaster = [] {
  std::array<std::uint16_t, 64> positions{};
  for (std::size_t k = 0; k < 64; ++k) positions[kZigZag[k]] = static_cast<std::uint16_t>(k);
  return positions;
}();

/// The weights of one direction: `weights[j][i]` is how much input j counts in output i.
struct Weights {
  alignas(64) float rows[8][16];        ///< input j in all eight outputs, twice
  alignas(64) float columns[8][4][16];  ///< input j in output 2k, eight times, and in output 2k+1, eight times

  constexpr explicit Weights(bool forward) : rows(), columns() {
    for (std::size_t j = 0; j < 8; ++j) {
      for (std::size_t i = 0; i < 8; ++i) {
        const float weight = forward ? kDctCosines[j][i] : kDctCosines[i][j];
        rows[j][i] = rows[j][i + 8] = weight;
        for (std::size_t lane = 0; lane < 8; ++lane) columns[j][i / 2][(i & 1) * 8 + lane] = weight;
      }
    }
  }
};
constexpr Weights kForward(true);
constexpr Weights kInverse(false);

struct Block {
  __m512 rows[4];
};

/// Both passes of a transform: rows, then columns.
template <const Weights& kWeights>
[[gnu::always_inline]] inline Block transform(const Block& in) {
  Block middle;
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    __m512 sum = _mm512_setzero_ps();
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      const __m512i lanes = _mm512_inserti64x4(_mm512_set1_epi32(j), _mm256_set1_epi32(j + 8), 1);
      const __m512 product = _mm512_mul_ps(_mm512_permutexvar_ps(lanes, in.rows[k]), _mm512_load_ps(kWeights.rows[j]));
      sum = j == 0 ? product : _mm512_add_ps(sum, product);
    }
    middle.rows[k] = sum;
  }
  Block out;
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) {
    const __m512 pair = middle.rows[j / 2];
    const __m512 row = (j & 1) == 0 ? _mm512_shuffle_f32x4(pair, pair, 0x44) : _mm512_shuffle_f32x4(pair, pair, 0xEE);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const __m512 product = _mm512_mul_ps(row, _mm512_load_ps(kWeights.columns[j][k]));
      out.rows[k] = j == 0 ? product : _mm512_add_ps(out.rows[k], product);
    }
  }
  return out;
}

/// Scales the first row and the first column of coefficients.
[[gnu::always_inline]] inline void scale(Block& block) {
  constexpr __mmask16 kFirstColumn = 0x0101;
  constexpr __mmask16 kFirstRow = 0x00FF;
  const __m512 factor = _mm512_set1_ps(kDctScale);
  for (__m512& rows : block.rows) rows = _mm512_mask_mul_ps(rows, kFirstColumn, rows, factor);
  block.rows[0] = _mm512_mask_mul_ps(block.rows[0], kFirstRow, block.rows[0], factor);
}

/// Four rows of eight samples each.
[[gnu::always_inline]] inline __m256i load_four_rows(const std::uint8_t* p, std::ptrdiff_t pitch) {
  const auto two_rows = [pitch](const std::uint8_t* q) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(q));
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(q + pitch)));
  };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(two_rows(p)), two_rows(p + 2 * pitch), 1);
}

[[gnu::always_inline]] inline void store_four_rows(__m256i samples, std::uint8_t* p, std::ptrdiff_t pitch) {
  const auto two_rows = [pitch](__m128i rows, std::uint8_t* q) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(q), rows);
    const long long upper = _mm_extract_epi64(rows, 1);
    std::memcpy(q + pitch, &upper, sizeof upper);
  };
  two_rows(_mm256_castsi256_si128(samples), p);
  two_rows(_mm256_extracti128_si256(samples, 1), p + 2 * pitch);
}

/// Four rows of 16-bit values as two registers of binary32.
[[gnu::always_inline]] inline void to_float(__m512i words, __m512& first, __m512& second) {
  first = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_castsi512_si256(words)));
  second = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(words, 1)));
}

/// Two registers of 32-bit values as one of their low 16 bits.
[[gnu::always_inline]] inline __m512i low_words(__m512i first, __m512i second) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(first)), _mm512_cvtepi32_epi16(second), 1);
}

/// Quantizes two rows: round(F / 4q), half away from zero. The largest number below one half is added, not one half:
/// then no number just below a tie is carried over it, and ties still are.
[[gnu::always_inline]] inline __m512i quantize_rows(__m512 coefficients, const float* divisors) {
  const __m512 quotient = _mm512_div_ps(coefficients, _mm512_load_ps(divisors));
  const __m512i sign = _mm512_and_si512(_mm512_castps_si512(quotient), _mm512_set1_epi32(INT32_MIN));
  const __m512 below_half = _mm512_castsi512_ps(_mm512_or_si512(sign, _mm512_set1_epi32(0x3EFFFFFF)));
  return _mm512_cvttps_epi32(_mm512_add_ps(quotient, below_half));
}

/// Restores two rows of coefficients: round(level·q / 4), half away from zero.
[[gnu::always_inline]] inline __m512 dequantize_rows(__m512i levels, const std::int32_t* steps) {
  // The steps have nothing in their upper halves, so the sum of two 16-bit products is the one product that is wanted.
  const __m512i product = _mm512_madd_epi16(levels, _mm512_load_si512(steps));
  const __m512i magnitude = _mm512_srli_epi32(_mm512_add_epi32(_mm512_abs_epi32(product), _mm512_set1_epi32(2)), 2);
  const __m512i value =
      _mm512_mask_sub_epi32(magnitude, _mm512_movepi32_mask(product), _mm512_setzero_si512(), magnitude);
  return _mm512_cvtepi32_ps(value);
}

/// Adds the residual, cut to 16 bits, to four rows of the prediction.
[[gnu::always_inline]] inline __m256i reconstruct_rows(__m512 first, __m512 second, __m256i prediction) {
  const __m512i residual = low_words(_mm512_cvttps_epi32(first), _mm512_cvttps_epi32(second));
  const __m512i sum = _mm512_add_epi16(residual, _mm512_cvtepu8_epi16(prediction));
  return _mm512_cvtusepi16_epi8(_mm512_max_epi16(sum, _mm512_setzero_si512()));
}

void code_block(const std::uint8_t* current, std::ptrdiff_t current_pitch, const BlockPrediction& prediction,
                const TransformTable& table, std::int16_t levels[64]) {
  Block block;
  for (int half = 0; half < 2; ++half) {
    const __m512i residual = _mm512_sub_epi16(
        _mm512_cvtepu8_epi16(load_four_rows(current + 4 * half * current_pitch, current_pitch)),
        _mm512_cvtepu8_epi16(load_four_rows(prediction.samples + 4 * half * prediction.pitch, prediction.pitch)));
    to_float(residual, block.rows[2 * half], block.rows[2 * half + 1]);
  }
  block = transform<kForward>(block);
  scale(block);
  const float* divisors = table.divisors.data();
  const __m512i low = low_words(quantize_rows(block.rows[0], divisors), quantize_rows(block.rows[1], divisors + 16));
  const __m512i high =
      low_words(quantize_rows(block.rows[2], divisors + 32), quantize_rows(block.rows[3], divisors + 48));
  for (int half = 0; half < 2; ++half) {
    const __m512i zig_zag = _mm512_permutex2var_epi16(low, _mm512_loadu_si512(kToZigZag.data() + 32 * half), high);
    const __m512i limit = _mm512_load_si512(table.limits.data() + 32 * half);
    const __m512i kept =
        _mm512_max_epi16(_mm512_min_epi16(zig_zag, limit), _mm512_sub_epi16(_mm512_setzero_si512(), limit));
    _mm512_storeu_si512(levels + 32 * half, kept);
  }
}

void restore_block(const std::int16_t levels[64], const TransformTable& table, const BlockPrediction& prediction,
                   std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch) {
  const __m512i first = _mm512_loadu_si512(levels);
  const __m512i second = _mm512_loadu_si512(levels + 32);
  const __m256i top = load_four_rows(prediction.samples, prediction.pitch);
  const __m256i bottom = load_four_rows(prediction.samples + 4 * prediction.pitch, prediction.pitch);
  const __m512i any = _mm512_or_si512(first, second);
  if (_mm512_test_epi32_mask(any, any) == 0) {
    store_four_rows(top, reconstruction, reconstruction_pitch);
    store_four_rows(bottom, reconstruction + 4 * reconstruction_pitch, reconstruction_pitch);
    return;
  }
  Block block;
  for (int half = 0; half < 2; ++half) {
    const __m512i raster = _mm512_permutex2var_epi16(first, _mm512_loadu_si512(kToRaster.data() + 32 * half), second);
    const std::int32_t* steps = table.raster_steps.data() + 32 * half;
    block.rows[2 * half] = dequantize_rows(_mm512_cvtepi16_epi32(_mm512_castsi512_si256(raster)), steps);
    block.rows[2 * half + 1] = dequantize_rows(_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(raster, 1)), steps + 16);
  }
  scale(block);
  block = transform<kInverse>(block);
  store_four_rows(reconstruct_rows(block.rows[0], block.rows[1], top), reconstruction, reconstruction_pitch);
  store_four_rows(reconstruct_rows(block.rows[2], block.rows[3], bottom), reconstruction + 4 * reconstruction_pitch,
                  reconstruction_pitch);
}

}  // namespace

void code_blocks(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                 std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels) {
  code_each_block<code_block>(current, current_pitch, predictions, table, levels);
}

void restore_blocks(const std::int16_t* levels, const TransformTable& table,
                    std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                    std::ptrdiff_t reconstruction_pitch) {
  restore_each_block<restore_block>(levels, table, predictions, reconstruction, reconstruction_pitch);
}

void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums) {
  const __m512i ones = _mm512_set1_epi16(1);
  for (int block = 0; block < count; block += 8) {
    const int blocks = std::min(count - block, 8);
    const auto valid = static_cast<__mmask32>(blocks == 8 ? ~0U : (1U << (4 * blocks)) - 1U);
    __m512i sum_a = _mm512_setzero_si512();  // a 32-bit value holds two samples, so a block has two of them
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
