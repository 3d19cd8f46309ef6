#if defined(C63_SIMD_X86)

// The tables of the kernels with AVX-512: the search of search_x86.h, with registers of 32 candidates in four octets, and
// the last steps of the transform for decisions. transform_avx512.cpp and choose_levels_avx512.cpp have the others.

#include "cpu/block_sads_portable.h"
#include "cpu/decision_kernels_portable.h"
#include "cpu/extend_narrow_x86.h"
#include "cpu/kernels_avx512.h"
#include "cpu/search_x86.h"

namespace c63::cpu {
namespace {

// VDBPSADBW's control operands. Each 128-bit lane has sixteen samples of the reference. The operands choose the eight
// positions in it with which four samples of the block are compared. They begin at sample 0 for the left half of the
// block's row, and at sample 4 for the right half.
constexpr int kLeftHalf = 0x94;
constexpr int kRightHalf = 0xE9;

/// A mask of the lowest `count` of 32 bits.
constexpr std::uint32_t low_bits(int count) { return count >= 32 ? ~0U : (1U << count) - 1U; }

[[gnu::always_inline]] inline __m512i join(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// The samples of a block. Every 32-bit lane of left[y] has the four samples of the left half of row y. Every lane of
/// right[y] has those of the right half.
struct BlockRows {
  __m512i left[8];
  __m512i right[8];

  [[gnu::always_inline]] explicit BlockRows(const BlockSearch& search) {
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      left[k] = four_samples(search.current + k * search.current_pitch);
      right[k] = four_samples(search.current + k * search.current_pitch + 4);
    });
  }

 private:
  [[gnu::always_inline]] static __m512i four_samples(const std::uint8_t* p) {
    std::int32_t bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    return _mm512_set1_epi32(bytes);
  }
};

/// The candidates that a register has in a search without bounds: 32 neighbours in one row.
struct OneRow {
  using Sums = __m512i;
  static constexpr int kColumns = 32;

  /// Loads the samples for the candidates. Lane i gets 16 bytes from byte 8·i on, which is all that its eight
  /// candidates need.
  static __m512i load(const std::uint8_t* p) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 1, 2, 2, 3, 3, 4), _mm512_loadu_si512(p));
  }
  static __mmask32 valid(int columns) { return low_bits(columns); }
  static __m512i true_rows(__m512i rows) { return rows; }
  static __m512i pairs(const std::uint32_t* of_row) { return _mm512_set1_epi32(static_cast<int>(*of_row)); }
  static __m512i columns(const std::uint16_t* words) { return _mm512_load_si512(words); }

  template <bool kFirst>
  [[gnu::always_inline]] static void add_row(Sums& sum, const BlockRows& block, int k, __m512i samples) {
    const __m512i left = _mm512_dbsad_epu8(block.left[k], samples, kLeftHalf);
    const __m512i right = _mm512_dbsad_epu8(block.right[k], samples, kRightHalf);
    sum = _mm512_add_epi16(kFirst ? left : _mm512_add_epi16(sum, left), right);
    keep(sum);
  }
};

/// 16 neighbours in one row, and the 16 candidates `rows` rows below them.
struct TwoRows : OneRow {
  static constexpr int kColumns = 16;
  int rows;
  std::ptrdiff_t pitch;

  TwoRows(int rows_of_half, std::ptrdiff_t pitch_of_plane) : rows(rows_of_half), pitch(pitch_of_plane) {}
  [[nodiscard]] __m512i load(const std::uint8_t* p) const {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 1, 2, 4, 5, 5, 6), join(load_32(p), load_32(p + rows * pitch)));
  }
  static __mmask32 valid(int columns) { return low_bits(columns) * 0x10001U; }
  [[nodiscard]] __m512i true_rows(__m512i numbers) const {
    return _mm512_mask_add_epi16(numbers, 0xFFFF0000U, numbers, _mm512_set1_epi16(static_cast<short>(rows)));
  }
  [[nodiscard]] __m512i pairs(const std::uint32_t* of_row) const {
    return _mm512_mask_set1_epi32(OneRow::pairs(of_row), 0xFF00, static_cast<int>(of_row[rows]));
  }
  static __m512i columns(const std::uint16_t* words) { return _mm512_broadcast_i64x4(load_32(words)); }
};

struct Avx512 {
  using Words = __m512i;
  using Block = BlockRows;
  using OneRow = cpu::OneRow;
  using TwoRows = cpu::TwoRows;
  static constexpr int kTogether = 4;     ///< octets in a register
  static constexpr int kBitsOfWord = 1;   ///< in bits()

  static Words all(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }
  static Words load(const std::int16_t* p) { return _mm512_load_si512(p); }
  static Words add(Words a, Words b) { return _mm512_adds_epi16(a, b); }
  static Words min(Words a, Words b) { return _mm512_min_epi16(a, b); }
  static Words max(Words a, Words b) { return _mm512_max_epi16(a, b); }
  static __mmask32 less(Words a, Words b) { return _mm512_cmplt_epi16_mask(a, b); }
  static __mmask32 equal(Words a, Words b) { return _mm512_cmpeq_epi16_mask(a, b); }
  static Words select(__mmask32 mask, Words yes, Words no) { return _mm512_mask_mov_epi16(no, mask, yes); }
  static std::uint32_t bits(__mmask32 mask) { return _cvtmask32_u32(mask); }
  static int first(__mmask32 mask) { return std::countr_zero(bits(mask)); }
  static bool any_at_most(Words costs, int limit) { return _mm512_cmple_epi16_mask(costs, all(limit)) != 0; }
  static int smallest(Words v) {
    const __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return _mm_cvtsi128_si32(_mm_minpos_epu16(quarter)) & 0xFFFF;
  }
  /// Returns the first `count` costs, and kNoCost in other places.
  static Words with_first(int count, Words costs) { return select(low_bits(count), costs, all(kNoCost)); }
  /// Returns a bit for each 8 bytes that are not all 0.
  static unsigned nonzero_octets(__m256i bytes) { return _cvtmask8_u32(_mm256_test_epi64_mask(bytes, bytes)); }

  /// Returns the SADs of four octets.
  [[gnu::always_inline]] static Words sads_of_octets(const Block& block, const std::array<const std::uint8_t*, kTogether>& at, std::ptrdiff_t pitch) {
    __m512i left = _mm512_setzero_si512();
    __m512i right = _mm512_setzero_si512();
    const std::uint8_t* a = at[0];
    const std::uint8_t* b = at[1];
    const std::uint8_t* c = at[2];
    const std::uint8_t* d = at[3];
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      // Makes the compiler keep four addresses in registers, instead of a vector, or of one for each row of each octet.
      asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
      const __m512i samples = join(cpu::join(load_16(a), load_16(b)), cpu::join(load_16(c), load_16(d)));
      left = _mm512_add_epi16(left, _mm512_dbsad_epu8(block.left[k], samples, kLeftHalf));
      right = _mm512_add_epi16(right, _mm512_dbsad_epu8(block.right[k], samples, kRightHalf));
      keep(left);
      keep(right);
      a += pitch;
      b += pitch;
      c += pitch;
      d += pitch;
    });
    return _mm512_add_epi16(left, right);
  }
  template <typename WordsOf>
  [[gnu::always_inline]] static Words words_of_octets(WordsOf&& words) {
    __m512i costs = _mm512_castsi128_si512(load_16(words(0)));
    costs = _mm512_mask_broadcast_i64x2(costs, 0x0C, load_16(words(1)));
    costs = _mm512_mask_broadcast_i64x2(costs, 0x30, load_16(words(2)));
    return _mm512_mask_broadcast_i64x2(costs, 0xC0, load_16(words(3)));
  }
  template <typename PairOf>
  [[gnu::always_inline]] static Words pairs_of_octets(PairOf&& pair) {
    __m512i costs = _mm512_set1_epi32(static_cast<int>(*pair(0)));
    costs = _mm512_mask_set1_epi32(costs, 0x00F0, static_cast<int>(*pair(1)));
    costs = _mm512_mask_set1_epi32(costs, 0x0F00, static_cast<int>(*pair(2)));
    return _mm512_mask_set1_epi32(costs, 0xF000, static_cast<int>(*pair(3)));
  }

 private:
  template <bool kCosted, std::size_t kBest, typename Shape>
  struct Minima {
    const Tile& tile;
    const Shape& shape;
    BestOfPlaces<Avx512, kBest> best;

    [[gnu::always_inline]] void take(__m512i sads, int row) {
      if constexpr (kCosted) sads = _mm512_add_epi16(sads, shape.pairs(tile.row_pairs + row));
      best.take(sads, row);
    }
  };

 public:
  /// Searches all candidates of a tile. A register moves down `rows` rows.
  template <bool kCosted, std::size_t kBest, typename Shape>
  [[gnu::noinline]] static void search_columns(const BlockSearch& search, const Tile& tile, Shape shape, int rows, BestKeys& best) {
    const Block block(search);
    Minima<kCosted, kBest, Shape> minima{tile, shape, {}};
    search_rows(shape, block, &search.reference.at(tile.left, tile.top), search.reference.pitch, rows, minima);
    minima.best.add_costs(kCosted ? shape.columns(tile.column_words) : select(shape.valid(tile.columns), all(0), all(kNoCost)));
    minima.best.write([&](__m512i numbers) { return shape.true_rows(numbers); },
                      [&](int row, int place) { return search.index_of(tile.left + place % Shape::kColumns, tile.top + row); }, best);
  }
};

void quarter_sums(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* sums,
                  std::ptrdiff_t sums_pitch) {
  const __m512i zero = _mm512_setzero_si512();
  for (int x = 0; x < count; x += OneRow::kColumns) {
    const __mmask32 valid = low_bits(count - x);
    const std::uint8_t* row = samples + x;
    // The sum of four samples is their SAD against zeros. So one instruction gives the sums at 32 neighbouring
    // positions.
    const auto next_row = [&]() __attribute__((always_inline)) {
      const __m512i sum = _mm512_dbsad_epu8(zero, OneRow::load(row), kLeftHalf);
      row += pitch;
      return sum;
    };
    const __m512i first = next_row();
    __m512i second = next_row();
    __m512i third = next_row();
    __m512i first_two = _mm512_add_epi16(first, second);
    std::uint8_t* to = sums + x;
    for (int y = 0; y < rows; ++y, to += sums_pitch) {
      const __m512i fourth = next_row();
      const __m512i sum = _mm512_add_epi16(first_two, _mm512_add_epi16(third, fourth));
      _mm256_mask_storeu_epi8(to, valid, _mm512_cvtepi16_epi8(_mm512_srli_epi16(sum, 2)));
      first_two = _mm512_add_epi16(second, third);
      second = third;
      third = fourth;
    }
  }
}

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
  static constexpr DecisionKernels kKernels{portable::transform_blocks<FourBlocks>, avx512::choose_levels, portable::write_levels,
                                            portable::cost_candidate,               portable::extend_beam, extend_narrow};
  return kKernels;
}

const Kernels& avx512_kernels() {
  static constexpr Kernels kKernels{SimdLevel::avx512,          sad_8x8,
                                    search_blocks<Avx512>,      quarter_sums,
                                    avx512::transform_quantize, avx512::dequantize_reconstruct,
                                    avx512::ssim_sums,          portable::half_samples,
                                    portable::fraction_sads,    avx512_decision_kernels};
  return kKernels;
}

}  // namespace c63::cpu

#endif
