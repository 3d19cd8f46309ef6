#if defined(C63_SIMD_X86)

// The tables of the kernels with AVX2, and the transform for decisions. Kernels without a form of their own are the
// portable or scalar ones.

#include "cpu/decision_kernels_portable.h"
#include "cpu/extend_narrow_x86.h"
#include "cpu/kernels_portable.h"
#include "cpu/kernels_x86.h"
#include "cpu/transform_blocks_x86.h"

namespace c63::cpu {
namespace {

/// The operations that transform_blocks_x86.h needs, on registers that hold a row of two blocks.
struct Ymm {
  using Vector = __m256i;
  static constexpr int kBlocks = 2;

  static Vector zero() { return _mm256_setzero_si256(); }
  static Vector all_16(int value) { return _mm256_set1_epi16(static_cast<short>(value)); }
  static Vector all_32(int value) { return _mm256_set1_epi32(value); }
  static Vector load(const void* p) { return _mm256_load_si256(static_cast<const __m256i*>(p)); }
  static void store(void* p, Vector v) { _mm256_store_si256(static_cast<__m256i*>(p), v); }
  static Vector add_16(Vector a, Vector b) { return _mm256_add_epi16(a, b); }
  static Vector subtract_16(Vector a, Vector b) { return _mm256_sub_epi16(a, b); }
  static Vector add_32(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  static Vector multiply_add_pairs(Vector a, Vector b) { return _mm256_madd_epi16(a, b); }
  template <int kShift>
  static Vector shift_left_16(Vector v) { return _mm256_slli_epi16(v, kShift); }
  /// Returns the upper halves of the 32-bit numbers of `a` and `b`, alternately one of `a` and one of `b`.
  static Vector upper_halves(Vector a, Vector b) { return _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xAA); }
  static Vector interleave_low_16(Vector a, Vector b) { return _mm256_unpacklo_epi16(a, b); }
  static Vector interleave_high_16(Vector a, Vector b) { return _mm256_unpackhi_epi16(a, b); }
  static Vector interleave_low_32(Vector a, Vector b) { return _mm256_unpacklo_epi32(a, b); }
  static Vector interleave_high_32(Vector a, Vector b) { return _mm256_unpackhi_epi32(a, b); }
  static Vector interleave_low_64(Vector a, Vector b) { return _mm256_unpacklo_epi64(a, b); }
  static Vector interleave_high_64(Vector a, Vector b) { return _mm256_unpackhi_epi64(a, b); }
  /// Returns the sum of the four 32-bit numbers of each 128-bit lane, in all four places of the lane.
  static Vector sum_of_four_32(Vector v) {
    v = _mm256_add_epi32(v, _mm256_shuffle_epi32(v, 0x4E));
    return _mm256_add_epi32(v, _mm256_shuffle_epi32(v, 0xB1));
  }

  /// Returns a register of 16-bit numbers: `number` in all places of each block b for which asked(b) is true, and 0 in
  /// the other places.
  template <typename Asked>
  [[gnu::always_inline]] static Vector where(short number, Asked&& asked) {
    return _mm256_setr_m128i(_mm_set1_epi16(asked(0) ? number : 0), _mm_set1_epi16(asked(1) ? number : 0));
  }
  /// Loads eight samples of each block as 16-bit numbers.
  template <typename Samples>
  [[gnu::always_inline]] static Vector row_of_samples(Samples&& samples) {
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi64(eight_of(samples(0)), eight_of(samples(1))));
  }
  /// Does what row_of_samples() does, for two blocks with the same samples.
  template <typename Samples>
  [[gnu::always_inline]] static Vector row_of_equal_twos(Samples&& samples) {
    const __m128i one = eight_of(samples(0));
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi64(one, one));
  }
  /// Loads eight samples of the first block as 16-bit numbers. The second block gets zeros.
  template <typename Samples>
  [[gnu::always_inline]] static Vector row_of_firsts(Samples&& samples) {
    return _mm256_cvtepu8_epi16(eight_of(samples(0)));
  }
  [[gnu::always_inline]] static __m128i eight_of(const std::uint8_t* p) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  }

  /// Writes the coefficients of both blocks to `blocks`, in zig-zag order.
  [[gnu::always_inline]] static void store_zig_zag(const BlockRegisters<Ymm>& registers, TransformedBlock* const* blocks) {
    alignas(32) std::int16_t rows[8][16];
    for (int v = 0; v < 8; ++v) store(rows[v], registers.rows[v]);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      for (std::size_t k = 0; k < 64; ++k) blocks[b]->coefficients[k] = rows[kZigZag[k] / 8][8 * b + static_cast<std::size_t>(place_of_column(kZigZag[k] % 8))];
    }
  }

  /// Sets `ac` of both blocks to the result of summarize_ac().
  [[gnu::always_inline]] static void summarize(TransformedBlock* const* blocks, const LevelTable& table) {
    for (int b = 0; b < kBlocks; ++b) summarize(*blocks[b], table);
  }
  [[gnu::always_inline]] static void summarize(TransformedBlock& block, const LevelTable& table) {
    __m256i energy = zero();
    std::uint64_t kept = 0;
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      __m256i magnitude = _mm256_abs_epi16(load(block.coefficients.data() + 16 * i));
      if (i == 0) magnitude = _mm256_andnot_si256(_mm256_setr_epi32(0xFFFF, 0, 0, 0, 0, 0, 0, 0), magnitude);  // not DC
      const __m256i over = _mm256_cmpgt_epi16(magnitude, load(table.quantizer.thresholds.data() + 16 * i));
      const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(over), _mm256_extracti128_si256(over, 1));
      kept |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))) << (16 * i);
      energy = add_32(energy, _mm256_madd_epi16(magnitude, magnitude));
    });
    const __m256i fours = sum_of_four_32(energy);
    block.ac.kept = kept;
    block.ac.energy = _mm_cvtsi128_si32(_mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1)));
  }
};

void transform_blocks(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks) {
  transform_blocks_of<Ymm>(pairs, table, blocks);
}

}  // namespace

const DecisionKernels& avx2_decision_kernels() {
  static const DecisionKernels kKernels{transform_blocks,         portable::choose_levels, scalar_decision_kernels().write_levels,
                                        portable::cost_candidate, portable::extend_beam,   extend_narrow};
  return kKernels;
}

const Kernels& avx2_kernels() {
  static constexpr Kernels kKernels{SimdLevel::avx2,          avx2::sad,
                                    avx2::search,             portable::quarter_sums,
                                    avx2::transform_quantize, avx2::dequantize_reconstruct,
                                    portable::ssim_sums,      avx2_decision_kernels};
  return kKernels;
}

}  // namespace c63::cpu

#endif
