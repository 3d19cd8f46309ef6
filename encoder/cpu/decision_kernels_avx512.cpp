#if defined(C63_SIMD_X86)

#include "cpu/decision_kernels_avx512.h"

#include "cpu/candidates_avx512.h"
#include "cpu/choose_levels_portable.h"
#include "cpu/decision_kernels_portable.h"
#include "cpu/transform_blocks_x86.h"

namespace c63::cpu {
namespace {

/// Where each coefficient in zig-zag order lies in raster order.
struct ZigZagIndices {
  alignas(64) std::array<std::int16_t, 64> at{};

  constexpr ZigZagIndices() {
    for (std::size_t k = 0; k < 64; ++k) at[k] = kZigZag[k];
  }
};
constexpr ZigZagIndices kZigZagIndices;

/// Four blocks at a time.
struct Zmm {
  using Vector = __m512i;
  static constexpr int kBlocks = 4;

  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector all_16(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }
  static Vector all_32(int value) { return _mm512_set1_epi32(value); }
  static Vector load(const void* p) { return _mm512_load_si512(p); }
  static void store(void* p, Vector v) { _mm512_store_si512(p, v); }
  static Vector add_16(Vector a, Vector b) { return _mm512_add_epi16(a, b); }
  static Vector subtract_16(Vector a, Vector b) { return _mm512_sub_epi16(a, b); }
  static Vector add_32(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  static Vector multiply_add_pairs(Vector a, Vector b) { return _mm512_madd_epi16(a, b); }
  template <int kShift>
  static Vector shift_right_32(Vector v) { return _mm512_srai_epi32(v, kShift); }
  static Vector pack_32(Vector a, Vector b) { return _mm512_packs_epi32(a, b); }
  static Vector interleave_low_16(Vector a, Vector b) { return _mm512_unpacklo_epi16(a, b); }
  static Vector interleave_high_16(Vector a, Vector b) { return _mm512_unpackhi_epi16(a, b); }
  static Vector interleave_low_32(Vector a, Vector b) { return _mm512_unpacklo_epi32(a, b); }
  static Vector interleave_high_32(Vector a, Vector b) { return _mm512_unpackhi_epi32(a, b); }
  static Vector interleave_low_64(Vector a, Vector b) { return _mm512_unpacklo_epi64(a, b); }
  static Vector interleave_high_64(Vector a, Vector b) { return _mm512_unpackhi_epi64(a, b); }
  /// The sum of the four numbers of each lane, in all of them.
  static Vector sum_of_four_32(Vector v) {
    v = _mm512_add_epi32(v, _mm512_shuffle_epi32(v, _MM_PERM_BADC));
    return _mm512_add_epi32(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB));
  }

  /// 1 in all places of those blocks that it is asked for.
  template <typename Asked>
  [[gnu::always_inline]] static Vector ones_where(Asked&& asked) {
    std::uint32_t mask = 0;
    for (int b = 0; b < kBlocks; ++b) mask |= asked(b) ? 0xFFU << (8 * b) : 0;
    return _mm512_maskz_set1_epi16(mask, 1);
  }
  /// Eight samples of each block as 16-bit numbers.
  template <typename Samples>
  [[gnu::always_inline]] static Vector row_of_samples(Samples&& samples) {
    const auto eight = [&](int b) __attribute__((always_inline)) {
      std::int64_t bytes;
      std::memcpy(&bytes, samples(b), sizeof bytes);
      return bytes;
    };
    return _mm512_cvtepu8_epi16(_mm256_setr_epi64x(eight(0), eight(1), eight(2), eight(3)));
  }

  /// Rows of all blocks to the coefficients of each.
  [[gnu::always_inline]] static void store_zig_zag(const BlockRegisters<Zmm>& registers, TransformedBlock* const* blocks) {
    const auto& r = registers.rows;
    const auto store_block = [&](int b, __m512i upper, __m512i lower) __attribute__((always_inline)) {
      const std::int16_t* const indices = kZigZagIndices.at.data();
      std::int16_t* const to = blocks[b]->coefficients.data();
      store(to, _mm512_permutex2var_epi16(upper, load(indices), lower));
      store(to + 32, _mm512_permutex2var_epi16(upper, load(indices + 32), lower));
    };
    // Rows 0 and 1, 2 and 3, … of blocks 0 and 1, and of blocks 2 and 3.
    __m512i first[4];
    __m512i last[4];
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      first[i] = _mm512_shuffle_i32x4(r[2 * i], r[2 * i + 1], 0x44);
      last[i] = _mm512_shuffle_i32x4(r[2 * i], r[2 * i + 1], 0xEE);
    });
    store_block(0, _mm512_shuffle_i32x4(first[0], first[1], 0x88), _mm512_shuffle_i32x4(first[2], first[3], 0x88));
    store_block(1, _mm512_shuffle_i32x4(first[0], first[1], 0xDD), _mm512_shuffle_i32x4(first[2], first[3], 0xDD));
    store_block(2, _mm512_shuffle_i32x4(last[0], last[1], 0x88), _mm512_shuffle_i32x4(last[2], last[3], 0x88));
    store_block(3, _mm512_shuffle_i32x4(last[0], last[1], 0xDD), _mm512_shuffle_i32x4(last[2], last[3], 0xDD));
  }

  /// summarize_ac()
  [[gnu::always_inline]] static void summarize(TransformedBlock& block, const LevelTable& table) {
    const __m512i cap = all_16(table.cap);
    __m512i magnitudes[2];
    std::uint64_t kept = 0;
    unroll<2>([&](auto i) __attribute__((always_inline)) {
      magnitudes[i] = _mm512_abs_epi16(load(block.coefficients.data() + 32 * i));
      const __m512i thresholds = load(table.quantizer.thresholds.data() + 32 * i);
      kept |= std::uint64_t{_cvtmask32_u32(_mm512_cmpgt_epi16_mask(magnitudes[i], thresholds))} << (32 * i);
    });
    magnitudes[0] = _mm512_mask_mov_epi16(magnitudes[0], 1, zero());  // not DC
    const __m512i energy = add_32(_mm512_madd_epi16(magnitudes[0], magnitudes[0]), _mm512_madd_epi16(magnitudes[1], magnitudes[1]));
    const __m512i first = _mm512_min_epi16(magnitudes[0], cap);
    const __m512i second = _mm512_min_epi16(magnitudes[1], cap);
    const __m512i bound = add_32(_mm512_madd_epi16(first, first), _mm512_madd_epi16(second, second));
    // Both sums at once: a half of the register for each.
    const __m512i halves = add_32(_mm512_shuffle_i32x4(energy, bound, 0x44), _mm512_shuffle_i32x4(energy, bound, 0xEE));
    const __m512i sums = sum_of_four_32(add_32(halves, _mm512_shuffle_i32x4(halves, halves, 0xB1)));
    block.ac.kept = kept;
    block.ac.energy = _mm_cvtsi128_si32(_mm512_castsi512_si128(sums));
    block.ac.bound = kept == 0 ? block.ac.energy : _mm_cvtsi128_si32(_mm512_extracti32x4_epi32(sums, 2));
  }
};

}  // namespace

namespace avx512 {

void transform_blocks(std::span<const BlockPair> pairs, const LevelTable& table, TransformedBlock* blocks) {
  transform_blocks_of<Zmm>(pairs, table, blocks);
}

}  // namespace avx512

const DecisionKernels& avx512_decision_kernels() {
  static constexpr DecisionKernels kKernels{avx512::search_best, avx512::transform_blocks, portable::choose_levels,
                                            portable::cost_candidate, portable::extend_beam};
  return kKernels;
}

}  // namespace c63::cpu

#endif
