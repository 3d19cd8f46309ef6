#if defined(C63_SIMD_X86)

// The parts of choosing AC levels (choose_levels_portable.h) that AVX-512 does in its own way.

#include <bit>

#include "cpu/choose_levels_portable.h"
#include "cpu/kernels_avx512.h"
#include "cpu/unroll.h"

namespace c63::cpu::avx512 {
namespace {

namespace hn = portable::hn;
using portable::CodeBits;
using portable::kBlockLanes;
using portable::kMostNodes;
using portable::L;

[[gnu::always_inline]] inline __m512i all_32(std::int32_t value) { return _mm512_set1_epi32(value); }
[[gnu::always_inline]] inline __m512i all_16(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }

/// Transposes sixteen rows of sixteen numbers. Rows of `from` begin `pitch` numbers apart, rows of `to` sixteen.
[[gnu::always_inline]] inline void transpose(const std::uint32_t* from, std::size_t pitch, std::uint32_t* to) {
  __m512i a[16];
  __m512i b[16];
  unroll<8>([&](auto i) __attribute__((always_inline)) {  // rows 2i and 2i + 1
    const __m512i first = _mm512_load_si512(from + 2 * i * pitch);
    const __m512i second = _mm512_load_si512(from + (2 * i + 1) * pitch);
    a[2 * i] = _mm512_unpacklo_epi32(first, second);
    a[2 * i + 1] = _mm512_unpackhi_epi32(first, second);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {  // from rows 4i … 4i + 3, column 4·lane + j comes to b[4i + j]
    b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
  });
  unroll<4>([&](auto j) __attribute__((always_inline)) {
    const __m512i low = _mm512_shuffle_i32x4(b[j], b[4 + j], 0x44);  // columns j and 4 + j of rows 0 … 7
    const __m512i high = _mm512_shuffle_i32x4(b[j], b[4 + j], 0xEE);
    const __m512i low_end = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0x44);
    const __m512i high_end = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0xEE);
    _mm512_store_si512(to + 16 * j, _mm512_shuffle_i32x4(low, low_end, 0x88));
    _mm512_store_si512(to + 16 * (4 + j), _mm512_shuffle_i32x4(low, low_end, 0xDD));
    _mm512_store_si512(to + 16 * (8 + j), _mm512_shuffle_i32x4(high, high_end, 0x88));
    _mm512_store_si512(to + 16 * (12 + j), _mm512_shuffle_i32x4(high, high_end, 0xDD));
  });
}

/// As PortableKit::Steps.
class Steps {
 public:
  /// Makes room for blocks of at most `steps` kept coefficients.
  Steps(const LevelTable&, int steps) : tiles_((static_cast<std::size_t>(steps) + kBlockLanes - 1) / kBlockLanes) {
    if (tiles_ == 1) return;  // set_lane() fills the first tile completely
    for (auto& lane : by_lane_) {
      for (std::size_t i = kBlockLanes; i < kBlockLanes * tiles_; i += kBlockLanes) _mm512_store_si512(lane + i, _mm512_setzero_si512());
    }
  }
  void set_lane(std::size_t lane, const std::int16_t* coefficients, std::uint64_t nodes) {
    std::uint32_t* to = by_lane_[lane];
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto add = [&](auto i) __attribute__((always_inline)) {
      const __m256i some = _mm256_load_si256(reinterpret_cast<const __m256i*>(coefficients + 16 * i));
      const __m512i places = _mm512_slli_epi32(_mm512_add_epi32(numbers, all_32(16 * i)), 16);
      const __m512i both = _mm512_or_si512(_mm512_cvtepu16_epi32(_mm256_abs_epi16(some)), places);
      const auto mask = static_cast<__mmask16>(nodes >> (16 * i));
      _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(mask, both));
      to += std::popcount(static_cast<std::uint32_t>(mask));
    };
    add(std::integral_constant<int, 0>{});
    if (nodes >> 16 == 0) return;
    add(std::integral_constant<int, 1>{});
    if (nodes >> 32 == 0) return;
    add(std::integral_constant<int, 2>{});
    add(std::integral_constant<int, 3>{});
  }
  /// Transposes the data of all lanes. Call it after set_lane() for all lanes, before node().
  void put_together() {
    for (std::size_t i = 0; i < tiles_; ++i) transpose(by_lane_[0] + kBlockLanes * i, kPitch, by_step_[kBlockLanes * i]);
  }
  [[nodiscard]] L node(int i) const { return {_mm512_load_si512(by_step_[i])}; }

 private:
  static constexpr std::size_t kPitch = kMostNodes + 1 + kBlockLanes;  ///< set_lane() may store up to 16 numbers too many

  std::size_t tiles_;
  alignas(64) std::uint32_t by_lane_[kBlockLanes][kPitch];
  alignas(64) std::uint32_t by_step_[kMostNodes + 1][kBlockLanes];
};

/// As PortableKit::Tables. Everything is in registers.
class Tables {
 public:
  using Places = hn::Repartition<std::int16_t, portable::Lanes>;  ///< a position is in both halves of a lane

  explicit Tables(const LevelTable& table) : zero_run_(all_16(table.bits.zero_run)) {
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      const void* const bytes = table.bits_by_size.data() + 32 * i;
      bits_[i] = _mm512_cvtepu8_epi16(_mm256_load_si256(static_cast<const __m256i*>(bytes)));
      quantizers_[i] = _mm512_load_si512(table.quantizers.data() + 16 * i);
    });
  }

  [[nodiscard, gnu::always_inline]] L quantizers(const Steps&, int, L places) const {
    return {_mm512_mask_blend_epi32(_mm512_test_epi32_mask(places.raw, all_32(32)),
                                    _mm512_permutex2var_epi32(quantizers_[0], places.raw, quantizers_[1]),
                                    _mm512_permutex2var_epi32(quantizers_[2], places.raw, quantizers_[3]))};
  }
  [[nodiscard, gnu::always_inline]] L places(L node, L k) const {
    return {_mm512_mask_blend_epi16(0x55555555, node.raw, k.raw)};
  }
  /// Both levels are looked up at once, one in each half of a lane.
  [[nodiscard, gnu::always_inline]] CodeBits bits(const L (&zeros)[4], L nearest, L below) const {
    const __m512i sizes = _mm512_or_si512(sizes_of(nearest.raw), _mm512_slli_epi32(sizes_of(below.raw), 16));
    const __mmask32 large = _mm512_test_epi16_mask(sizes, all_16(64));  // sizes above 4
    CodeBits found;
    unroll<4>([&](auto way) __attribute__((always_inline)) {
      constexpr int kFirstAndSecondOrThird = 0xEA;
      const __m512i index = _mm512_ternarylogic_epi32(zeros[way].raw, all_16(15), sizes, kFirstAndSecondOrThird);
      const __m512i bits = _mm512_mask_blend_epi16(large, _mm512_permutex2var_epi16(bits_[0], index, bits_[1]),
                                                   _mm512_permutex2var_epi16(bits_[2], index, bits_[3]));
      const __m512i all = _mm512_add_epi16(bits, _mm512_mullo_epi16(_mm512_srli_epi16(zeros[way].raw, 4), zero_run_));
      found.nearest[way] = {_mm512_and_si512(all, all_32(0xFFFF))};
      found.below[way] = {_mm512_srli_epi32(all, 16)};
    });
    return found;
  }

 private:
  /// Returns 16·(size - 1) for levels of at least 1.
  [[nodiscard, gnu::always_inline]] static __m512i sizes_of(__m512i levels) {
    return _mm512_slli_epi32(_mm512_sub_epi32(all_32(31), _mm512_lzcnt_epi32(levels)), 4);
  }

  __m512i bits_[4];
  __m512i quantizers_[4];
  __m512i zero_run_;
};

struct Kit {
  using Steps = avx512::Steps;
  using Tables = avx512::Tables;
};

}  // namespace

void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices) {
  portable::choose_levels<Kit>(blocks, table, choices);
}

}  // namespace c63::cpu::avx512

#endif
