#if defined(C63_SIMD_X86)

// The tables of the kernels with AVX2: the search of search_x86.h, with registers of 16 candidates in two octets. Kernels
// without a form of their own are the portable or scalar ones.

#include "cpu/decision_kernels_portable.h"
#include "cpu/extend_narrow_x86.h"
#include "cpu/kernels_portable.h"
#include "cpu/search_x86.h"

namespace c63::cpu {
namespace {

/// The candidates that a register has in a search without bounds. The SADs of a register are in 64-bit lanes, for four
/// candidates of one row, 8 positions apart.
struct OneRow {
  using Sums = __m256i;
  static constexpr int kColumns = 32;

  static __m256i load(const std::uint8_t* p) { return load_32(p); }
  static __m256i numbers(int row) { return _mm256_set1_epi32(row); }
  static __m256i pairs(const std::uint32_t* of_row) { return _mm256_set1_epi32(static_cast<int>(*of_row)); }
  template <bool kFirst>
  [[gnu::always_inline]] static void add_row(Sums& sum, const __m256i (&block)[8], int k, __m256i samples) {
    const __m256i sad = _mm256_sad_epu8(block[k], samples);
    sum = kFirst ? sad : _mm256_add_epi32(sum, sad);
  }
};

/// As OneRow, for two candidates of one row, 8 positions apart, and two at the same columns `rows` rows further down.
struct TwoRows : OneRow {
  static constexpr int kColumns = 16;
  int rows;
  std::ptrdiff_t pitch;

  TwoRows(int rows_of_half, std::ptrdiff_t pitch_of_plane) : rows(rows_of_half), pitch(pitch_of_plane) {}
  [[nodiscard]] __m256i load(const std::uint8_t* p) const { return join(load_16(p), load_16(p + rows * pitch)); }
  [[nodiscard]] __m256i numbers(int row) const { return join(_mm_set1_epi32(row), _mm_set1_epi32(row + rows)); }
  [[nodiscard]] __m256i pairs(const std::uint32_t* of_row) const {
    return join(_mm_set1_epi32(static_cast<int>(of_row[0])), _mm_set1_epi32(static_cast<int>(of_row[rows])));
  }
};

struct Avx2 {
  using Words = __m256i;
  using OneRow = cpu::OneRow;
  using TwoRows = cpu::TwoRows;
  static constexpr int kTogether = 2;      ///< octets in a register
  static constexpr int kBitsOfWord = 2;    ///< in bits()

  static Words all(int value) { return _mm256_set1_epi16(static_cast<short>(value)); }
  static Words load(const std::int16_t* p) { return load_32(p); }
  static Words add(Words a, Words b) { return _mm256_adds_epi16(a, b); }
  static Words min(Words a, Words b) { return _mm256_min_epi16(a, b); }
  static Words max(Words a, Words b) { return _mm256_max_epi16(a, b); }
  static __m256i less(Words a, Words b) { return _mm256_cmpgt_epi16(b, a); }
  static __m256i equal(Words a, Words b) { return _mm256_cmpeq_epi16(a, b); }
  static Words select(__m256i mask, Words yes, Words no) { return _mm256_blendv_epi8(no, yes, mask); }
  static std::uint32_t bits(__m256i mask) { return static_cast<std::uint32_t>(_mm256_movemask_epi8(mask)) & 0x55555555U; }
  static int first(__m256i mask) { return std::countr_zero(static_cast<std::uint32_t>(_mm256_movemask_epi8(mask))) / 2; }
  static bool any_at_most(Words costs, int limit) { return _mm256_movemask_epi8(less(costs, all(limit + 1))) != 0; }
  static int smallest(Words v) {
    return _mm_cvtsi128_si32(_mm_minpos_epu16(_mm_min_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)))) & 0xFFFF;
  }
  /// Returns the first `count` costs, and kNoCost in other places.
  static Words with_first(int count, Words costs) {
    return select(_mm256_cmpgt_epi16(all(count), load(kWordNumbers.data())), costs, all(kNoCost));
  }
  /// Returns a bit for each 8 bytes that are not all 0.
  static unsigned nonzero_octets(__m256i bytes) {
    const __m256i zero = _mm256_cmpeq_epi64(bytes, _mm256_setzero_si256());
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(zero))) ^ 0xFU;
  }

  /// The samples of a block: four times the eight of each row.
  struct Block {
    __m256i rows[8];

    [[gnu::always_inline]] explicit Block(const BlockSearch& search) {
      unroll<8>([&](auto k) __attribute__((always_inline)) {
        std::int64_t bytes;
        __builtin_memcpy(&bytes, search.current + k * search.current_pitch, sizeof bytes);
        rows[k] = _mm256_set1_epi64x(bytes);
      });
    }
  };

  /// Returns the SADs of two octets. In each half of a register, VMPSADBW compares four samples of the block with those
  /// at eight neighbouring positions.
  [[gnu::always_inline]] static Words sads_of_octets(const Block& block, const std::array<const std::uint8_t*, kTogether>& at, std::ptrdiff_t pitch) {
    constexpr int kLeftHalf = 0x00;
    constexpr int kRightHalf = 0x2D;
    __m256i left = _mm256_setzero_si256();
    __m256i right = _mm256_setzero_si256();
    const std::uint8_t* a = at[0];
    const std::uint8_t* b = at[1];
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      asm("" : "+r"(a), "+r"(b));  // makes the compiler keep two addresses, instead of one for each row
      const __m256i samples = join(load_16(a), load_16(b));
      left = _mm256_add_epi16(left, _mm256_mpsadbw_epu8(samples, block.rows[k], kLeftHalf));
      right = _mm256_add_epi16(right, _mm256_mpsadbw_epu8(samples, block.rows[k], kRightHalf));
      keep(left);
      keep(right);
      a += pitch;
      b += pitch;
    });
    return _mm256_add_epi16(left, right);
  }
  template <typename WordsOf>
  [[gnu::always_inline]] static Words words_of_octets(WordsOf&& words) { return join(load_16(words(0)), load_16(words(1))); }
  template <typename PairOf>
  [[gnu::always_inline]] static Words pairs_of_octets(PairOf&& pair) {
    return join(_mm_set1_epi32(static_cast<int>(*pair(0))), _mm_set1_epi32(static_cast<int>(*pair(1))));
  }

 private:
  /// Keeps the lowest kBest keys of each lane. The lower half of a key is the number of a row, the upper half the cost.
  template <bool kCosted, std::size_t kBest, typename Shape>
  struct Keys {
    const Tile& tile;
    const Shape& shape;
    __m256i first = _mm256_set1_epi32(-1);
    __m256i second = _mm256_set1_epi32(-1);

    [[gnu::always_inline]] void take(__m256i sums, int row) {
      if constexpr (kCosted) sums = _mm256_add_epi32(sums, shape.pairs(tile.row_pairs + row));
      const __m256i key = _mm256_or_si256(_mm256_slli_epi32(sums, 16), shape.numbers(row));
      if constexpr (kBest > 1) second = _mm256_min_epu32(second, _mm256_max_epu32(first, key));
      first = _mm256_min_epu32(first, key);
    }
  };

 public:
  /// Searches all candidates of a tile. The candidates of a register lie 8 positions apart. So a register moves down
  /// `rows` rows eight times, each time one position further right.
  template <bool kCosted, std::size_t kBest, typename Shape>
  [[gnu::noinline]] static void search_columns(const BlockSearch& search, const Tile& tile, const Shape& shape, int rows, BestKeys& best) {
    const Block block(search);
    std::uint32_t keys[kBest][Shape::kColumns];
    std::ranges::fill(keys[0], UINT32_MAX);
    for (int phase = 0; phase < 8; ++phase) {
      Keys<kCosted, kBest, Shape> found{tile, shape};
      search_rows(shape, block.rows, &search.reference.at(tile.left + phase, tile.top), search.reference.pitch, rows, found);
      alignas(32) std::uint64_t lanes[kBest][4];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[0]), found.first);
      if constexpr (kBest > 1) _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[1]), found.second);
      for (int i = 0; i < 4; ++i) {
        const int column = 8 * i % Shape::kColumns + phase;
        const auto key = static_cast<std::uint32_t>(lanes[0][i]);
        if constexpr (kBest == 1) {
          keys[0][column] = std::min(keys[0][column], key);
        } else {
          const auto next = static_cast<std::uint32_t>(lanes[1][i]);
          // With TwoRows, two lanes have the same column.
          const bool is_again = 8 * i >= Shape::kColumns;
          const std::uint32_t before = is_again ? keys[0][column] : UINT32_MAX;
          const std::uint32_t before_next = is_again ? keys[1][column] : UINT32_MAX;
          keys[0][column] = std::min(before, key);
          keys[1][column] = std::min(std::max(before, key), std::min(before_next, next));
        }
      }
    }
    const int columns = std::min(tile.columns, Shape::kColumns);
    if constexpr (kCosted) {
      for (int x = 0; x < columns; ++x) keys[0][x] += std::uint32_t{tile.column_words[x]} << 16;
    }
    const auto key_of = [&](std::uint32_t key, int x) {
      return candidate_key(key >> 16, search.index_of(tile.left + x, tile.top + static_cast<int>(key & 0xFFFF)));
    };
    if constexpr (kBest == 1) {
      const std::uint32_t* const first = std::min_element(keys[0], keys[0] + columns);
      best.add_to_one(key_of(*first, static_cast<int>(first - keys[0])));
    } else {
      for (int x = 0; x < columns; ++x) {
        best.add(key_of(keys[0][x], x));
        if (keys[1][x] != UINT32_MAX) best.add(key_of(keys[1][x] + (std::uint32_t{tile.column_words[x]} << 16), x));
      }
    }
  }
};

}  // namespace

const DecisionKernels& avx2_decision_kernels() {
  static constexpr DecisionKernels kKernels{portable::transform_blocks<portable::AnyWidth>, portable::choose_levels<portable::PortableKit>,
                                        portable::write_levels, portable::cost_candidate, portable::extend_beam, extend_narrow};
  return kKernels;
}

const Kernels& avx2_kernels() {
  static constexpr Kernels kKernels = [] {
    Kernels kernels = portable::table(SimdLevel::avx2, avx2_decision_kernels);
    kernels.sad = sad_8x8;
    kernels.search = search_blocks<Avx2>;
    return kernels;
  }();
  return kKernels;
}

}  // namespace c63::cpu

#endif
