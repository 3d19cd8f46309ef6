#if defined(C63_SIMD_X86)

#include "cpu/decision_kernels_portable.h"
#include "cpu/extend_narrow_x86.h"
#include "cpu/kernels_x86.h"

namespace c63::cpu {
namespace {

/// For each position of the zig-zag order, the index of its coefficient in the output of transform_pass().
struct ZigZagIndices {
  alignas(64) std::array<std::int16_t, 64> at{};

  constexpr ZigZagIndices() {
    for (std::size_t k = 0; k < 64; ++k) at[k] = static_cast<std::int16_t>(kZigZag[k] / 8 * 8 + portable::place_of_column(kZigZag[k] % 8));
  }
};
constexpr ZigZagIndices kZigZagIndices;

/// The last steps of the transform, for registers that hold a row of four blocks.
struct FourBlocks {
  static constexpr int kBlocks = 4;

  static __m512i load(const void* p) { return _mm512_load_si512(p); }

  /// Writes the coefficients of all blocks to `blocks`, in zig-zag order.
  [[gnu::always_inline]] static void store_zig_zag(const portable::BlockRegisters& registers, TransformedBlock* const* blocks) {
    const auto store_block = [&](int b, __m512i upper, __m512i lower) __attribute__((always_inline)) {
      const std::int16_t* const indices = kZigZagIndices.at.data();
      std::int16_t* const to = blocks[b]->coefficients.data();
      _mm512_store_si512(to, _mm512_permutex2var_epi16(upper, load(indices), lower));
      _mm512_store_si512(to + 32, _mm512_permutex2var_epi16(upper, load(indices + 32), lower));
    };
    // Entry i of `first` has rows 2i and 2i + 1 of blocks 0 and 1. Entry i of `last` has the same rows of blocks 2 and
    // 3.
    __m512i first[4];
    __m512i last[4];
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      const __m512i even = registers.rows[2 * i].raw;
      const __m512i odd = registers.rows[2 * i + 1].raw;
      first[i] = _mm512_shuffle_i32x4(even, odd, 0x44);
      last[i] = _mm512_shuffle_i32x4(even, odd, 0xEE);
    });
    store_block(0, _mm512_shuffle_i32x4(first[0], first[1], 0x88), _mm512_shuffle_i32x4(first[2], first[3], 0x88));
    store_block(1, _mm512_shuffle_i32x4(first[0], first[1], 0xDD), _mm512_shuffle_i32x4(first[2], first[3], 0xDD));
    store_block(2, _mm512_shuffle_i32x4(last[0], last[1], 0x88), _mm512_shuffle_i32x4(last[2], last[3], 0x88));
    store_block(3, _mm512_shuffle_i32x4(last[0], last[1], 0xDD), _mm512_shuffle_i32x4(last[2], last[3], 0xDD));
  }

  /// Place b of each 128-bit lane of the result has the sum of that lane's four numbers in v[b]. The caller must add up
  /// the four lanes.
  [[gnu::always_inline]] static __m512i sums_of_lanes(const __m512i (&v)[kBlocks]) {
    const auto add_pairs = [](__m512i a, __m512i b) __attribute__((always_inline)) {
      return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    };
    const __m512i first = add_pairs(v[0], v[1]);
    const __m512i second = add_pairs(v[2], v[3]);
    return _mm512_add_epi32(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
  }

  /// Sets `ac` of all blocks to the result of summarize_ac().
  [[gnu::always_inline]] static void summarize(TransformedBlock* const* blocks, const LevelTable& table) {
    const __m512i thresholds[2] = {load(table.quantizer.thresholds.data()), load(table.quantizer.thresholds.data() + 32)};
    __m512i energies[kBlocks];
    std::uint64_t kept[kBlocks];
    unroll<kBlocks>([&](auto b) __attribute__((always_inline)) {
      __m512i first = _mm512_abs_epi16(load(blocks[b]->coefficients.data()));
      const __m512i second = _mm512_abs_epi16(load(blocks[b]->coefficients.data() + 32));
      kept[b] = _cvtmask64_u64(_mm512_kunpackd(_mm512_cmpgt_epi16_mask(second, thresholds[1]),
                                               _mm512_cmpgt_epi16_mask(first, thresholds[0])));
      first = _mm512_mask_mov_epi16(first, 1, _mm512_setzero_si512());  // not DC
      energies[b] = _mm512_add_epi32(_mm512_madd_epi16(first, first), _mm512_madd_epi16(second, second));
    });
    const __m512i energy = sums_of_lanes(energies);
    const __m256i halves = _mm256_add_epi32(_mm512_castsi512_si256(energy), _mm512_extracti64x4_epi64(energy, 1));
    alignas(16) std::int32_t sums[kBlocks];
    _mm_store_si128(reinterpret_cast<__m128i*>(sums), _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
    for (std::size_t b = 0; b < kBlocks; ++b) blocks[b]->ac = {kept[b], sums[b]};
  }
};

}  // namespace

const DecisionKernels& avx512_decision_kernels() {
  static constexpr DecisionKernels kKernels{portable::transform_blocks<FourBlocks>, avx512::choose_levels, avx512::write_levels,
                                            portable::cost_candidate,               portable::extend_beam, extend_narrow};
  return kKernels;
}

const Kernels& avx512_kernels() {
  static constexpr Kernels kKernels{SimdLevel::avx512,          avx512::sad,
                                    avx512::search,             avx512::quarter_sums,
                                    avx512::transform_quantize, avx512::dequantize_reconstruct,
                                    avx512::ssim_sums,          avx512_decision_kernels};
  return kKernels;
}

}  // namespace c63::cpu

#endif
