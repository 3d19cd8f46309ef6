#pragma once

// The first part of the search with AVX2 and AVX-512 (search_x86.h): tiles, and bounds that rule candidates out. Local to
// the file that includes it, as in search_x86.h.

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>

#include "cpu/best_keys.h"
#include "cpu/kernels.h"
#include "cpu/unroll.h"

namespace c63::cpu {
namespace {

constexpr int kOctet = 8;
constexpr int kTileColumns = 32;
constexpr int kTileOctets = kTileColumns / kOctet;
constexpr int kTileRows = 64;     ///< so that the number of an octet in its tile fits in a byte
constexpr int kAllOctets = -1;    ///< stands for the length of a list: no octet is ruled out, and none is listed
constexpr std::size_t kListRoom = std::size_t{kTileRows} * kTileOctets + 64;

/// Makes the compiler compute a value here and keep it in a register. Otherwise compilers reorder the additions of a
/// loop into trees. These need more registers than there are, so some values would be moved to memory.
template <typename Vector>
[[gnu::always_inline]] inline void keep(Vector& value) {
  asm("" : "+v"(value));
}

/// Returns the numbers 0, 1, …, kCount - 1.
template <typename T, std::size_t kCount>
constexpr std::array<T, kCount> iota() {
  std::array<T, kCount> numbers{};
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<T>(i);
  return numbers;
}
alignas(64) constexpr std::array<std::int16_t, 32> kWordNumbers = iota<std::int16_t, 32>();
alignas(32) constexpr std::array<std::int8_t, 32> kByteNumbers = iota<std::int8_t, 32>();

/// For each byte value, the positions of its set bits, lowest first. An entry has one position in each of its bytes.
alignas(64) constexpr std::array<std::uint64_t, 256> kPlacesOfBits = [] {
  std::array<std::uint64_t, 256> all_places{};
  for (std::size_t bits = 0; bits < all_places.size(); ++bits) {
    int count = 0;
    for (std::uint64_t bit = 0; bit < 8; ++bit) {
      if ((bits >> bit & 1U) != 0) all_places[bits] |= bit << 8 * count++;
    }
  }
  return all_places;
}();

[[gnu::always_inline]] inline __m128i load_16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
[[gnu::always_inline]] inline __m256i load_32(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
[[gnu::always_inline]] inline __m256i join(__m128i low, __m128i high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// ---- SAD of one candidate, and sums of 4x4 samples

/// Loads eight samples of a row, and eight of the row below it.
[[gnu::always_inline]] inline __m128i two_rows(const std::uint8_t* p, std::ptrdiff_t pitch) {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(p + pitch)));
}

[[maybe_unused]] std::uint32_t sad_8x8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch) {
  __m128i rows[4];
  unroll<4>([&](auto k) __attribute__((always_inline)) {
    rows[k] = _mm_sad_epu8(two_rows(a + 2 * k * a_pitch, a_pitch), two_rows(b + 2 * k * b_pitch, b_pitch));
  });
  const __m128i sum = _mm_add_epi32(_mm_add_epi32(rows[0], rows[1]), _mm_add_epi32(rows[2], rows[3]));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum))));
}

/// Returns true if the candidate has the samples of the block.
bool is_equal(const BlockSearch& search, const Position& candidate) {
  const std::uint8_t* const samples = &search.reference.at(candidate.x, candidate.y);
  for (std::ptrdiff_t y = 0; y < kBlockSize; ++y) {
    const std::uint8_t* const row = search.current + y * search.current_pitch;
    if (__builtin_memcmp(row, samples + y * search.reference.pitch, kBlockSize) != 0) return false;
  }
  return true;
}

/// Quarter sums of 32 neighbouring candidates: those of the left and of the right 4x4 samples of their upper (or lower)
/// half.
struct QuarterRow {
  __m256i left;
  __m256i right;

  [[gnu::always_inline]] explicit QuarterRow(const std::uint8_t* p) : left(load_32(p)), right(load_32(p + 4)) {}
};

/// The quarter sums of the block's four squares of 4x4 samples, each in all bytes of a register.
struct Quarters {
  __m256i top_left;
  __m256i top_right;
  __m256i bottom_left;
  __m256i bottom_right;

  [[gnu::always_inline]] explicit Quarters(const BlockSearch& search)
      : top_left(quarter(search, 0, 0)),
        top_right(quarter(search, 4, 0)),
        bottom_left(quarter(search, 0, 4)),
        bottom_right(quarter(search, 4, 4)) {}

  /// Returns lower bounds of the SADs of 32 neighbouring candidates, divided by four: the sums of the distances between
  /// the candidates' quarter sums and those of the block, at most 255. `above` has the quarter sums of their upper
  /// halves, `below` those of their lower halves. Rounding may make a bound too large by less than 3, which
  /// quarter_limit() allows for.
  [[gnu::always_inline]] __m256i bounds(const QuarterRow& above, const QuarterRow& below) const {
    return _mm256_adds_epu8(_mm256_adds_epu8(distance(above.left, top_left), distance(above.right, top_right)),
                            _mm256_adds_epu8(distance(below.left, bottom_left), distance(below.right, bottom_right)));
  }

 private:
  [[gnu::always_inline]] static __m256i distance(__m256i a, __m256i b) { return _mm256_abs_epi8(_mm256_sub_epi8(a, b)); }
  [[gnu::always_inline]] static __m256i quarter(const BlockSearch& search, int x, int y) {
    const std::uint8_t* const p = search.current + y * search.current_pitch + x;
    const auto row = [&](int i) {
      std::int32_t bytes;
      __builtin_memcpy(&bytes, p + i * search.current_pitch, sizeof bytes);
      return bytes;
    };
    const __m128i halves = _mm_sad_epu8(_mm_setr_epi32(row(0), row(1), row(2), row(3)), _mm_setzero_si128());
    const int sum = _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_unpackhi_epi64(halves, halves)));
    return _mm256_set1_epi8(static_cast<char>(quarter_sum(sum)));
  }
};

// ---- tiles

/// Part of a window: at most kTileColumns x kTileRows candidates.
struct Tile {
  int left;
  int top;
  int columns;
  int rows;
  // If vectors have a cost, the costs of the tile's columns and rows:
  const std::uint32_t* row_pairs;
  const std::uint32_t* row_fours;
  alignas(64) std::uint16_t column_words[kTileColumns];    ///< kNoCost for columns to the right of the tile
  alignas(32) std::uint8_t column_quarters[kTileColumns];  ///< 255 for these

  [[nodiscard]] int octets() const { return (columns + kOctet - 1) / kOctet * rows; }
  [[nodiscard]] int x_of(int octet) const { return left + octet % kTileOctets * kOctet; }
  [[nodiscard]] int y_of(int octet) const { return top + octet / kTileOctets; }

  /// Moves to the part of the window that begins at (x, y).
  template <bool kCosted>
  [[gnu::always_inline]] void move_to(const BlockSearch& search, const SearchCosts& costs, int x, int y) {
    left = x;
    top = y;
    columns = std::min(kTileColumns, search.window.right - x);
    rows = std::min(kTileRows, search.window.bottom - y);
    if constexpr (!kCosted) return;
    const std::size_t column = SearchCosts::entry(x - search.own.x);
    const std::size_t row = SearchCosts::entry(y - search.own.y);
    row_pairs = costs.pairs.data() + row;
    row_fours = costs.quarter_fours.data() + row;
    const __m256i last = _mm256_set1_epi16(static_cast<short>(columns - 1));
    unroll<2>([&](auto half) __attribute__((always_inline)) {
      const __m256i beyond = _mm256_cmpgt_epi16(load_32(kWordNumbers.data() + 16 * half), last);
      const __m256i words = load_32(costs.words.data() + column + 16 * half);
      _mm256_store_si256(reinterpret_cast<__m256i*>(column_words + 16 * half),
                         _mm256_blendv_epi8(words, _mm256_set1_epi16(kNoCost), beyond));
    });
    const __m256i beyond = _mm256_cmpgt_epi8(load_32(kByteNumbers.data()), _mm256_set1_epi8(static_cast<char>(columns - 1)));
    _mm256_store_si256(reinterpret_cast<__m256i*>(column_quarters),
                       _mm256_or_si256(load_32(costs.quarters.data() + column), beyond));
  }
};

/// Lists the octets of a tile with at least one candidate whose bound does not prove that it costs more than `limit`. The
/// list is in raster order. Returns its length, or kAllOctets if no octet is ruled out. No 512-bit register is used: while
/// such instructions run, a third of the CPU's vector units are idle.
template <typename V, bool kCosted>
[[gnu::noinline]] int list_octets(const BlockSearch& search, const QuarterSumsView& view, const Tile& tile, int limit,
                                  std::uint8_t* octets) {
  // The numbers of the octets two rows below, less those of these octets, in each of eight bytes.
  constexpr std::uint64_t kRowPair = 2 * kTileOctets * 0x0101010101010101;
  const int quarter = limit == 0 ? 0 : quarter_limit(limit);  // equal samples have equal sums
  if (quarter == kNoQuarterLimit) return kAllOctets;
  const Quarters quarters(search);
  const __m256i above_limit = _mm256_set1_epi8(static_cast<char>(quarter + 1));
  const unsigned valid = ((1U << tile.columns / kOctet) - 1U) * 0x11U;
  const __m256i of_columns = kCosted ? load_32(tile.column_quarters) : _mm256_setzero_si256();
  const std::uint32_t* of_rows = tile.row_fours;
  const std::uint8_t* sums = view.at(tile.left, tile.top);
  // The sums of a candidate's lower half are those of the upper half of the candidate four rows below. Rows past the
  // tile are tested, too, and then removed from the list.
  QuarterRow above[4] = {QuarterRow(sums), QuarterRow(sums + view.pitch), QuarterRow(sums + 2 * view.pitch),
                         QuarterRow(sums + 3 * view.pitch)};
  sums += 4 * view.pitch;
  int count = 0;
  std::uint64_t first = 0;  // the number of the first octet of two rows, in each byte
  for (int row = 0; row < tile.rows; row += 4) {
    unroll<2>([&](auto pair) __attribute__((always_inline)) {
      unsigned kept = 0;  // a bit for each octet
      unroll<2>([&](auto half) __attribute__((always_inline)) {
        const QuarterRow below(sums);
        sums += view.pitch;
        __m256i bounds = quarters.bounds(above[2 * pair + half], below);
        __m256i room = above_limit;
        if constexpr (kCosted) {
          bounds = _mm256_adds_epu8(bounds, of_columns);
          room = _mm256_subs_epu8(room, _mm256_set1_epi32(static_cast<int>(*of_rows++)));
        }
        kept |= V::nonzero_octets(_mm256_subs_epu8(room, bounds)) << kTileOctets * half;
        above[2 * pair + half] = below;
      });
      if constexpr (!kCosted) kept &= valid;
      const std::uint64_t listed = kPlacesOfBits[kept] + first;
      __builtin_memcpy(octets + count, &listed, sizeof listed);
      count += std::popcount(kept);
      first += kRowPair;
    });
  }
  while (count > 0 && octets[count - 1] >= kTileOctets * tile.rows) --count;
  return count;
}

/// Returns false if quarter sums prove that no candidate before `best` is equal to the block. The window is one tile.
/// Takes about a third of the time of list_octets(), because it needs two sums of a candidate, no distance and no list.
[[gnu::noinline]] bool may_be_equal_before(const BlockSearch& search, const QuarterSumsView& view, const Position& best) {
  const SearchWindow& window = search.window;
  const Quarters quarters(search);
  // A candidate's byte is 0 if its top left and bottom right sums are those of the block.
  const auto difference = [&](const std::uint8_t* sums) __attribute__((always_inline)) {
    return _mm256_or_si256(_mm256_xor_si256(QuarterRow(sums).left, quarters.top_left),
                           _mm256_xor_si256(QuarterRow(sums + 4 * view.pitch).right, quarters.bottom_right));
  };
  const auto has_equal = [](__m256i differences, int count) __attribute__((always_inline)) {
    const auto equal = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(differences, _mm256_setzero_si256())));
    return (std::uint64_t{equal} & ((std::uint64_t{1} << count) - 1)) != 0;
  };
  const std::uint8_t* sums = view.at(window.left, window.top);
  __m256i least = _mm256_set1_epi8(-1);
#pragma GCC unroll 4
  for (int y = window.top; y < best.y; ++y, sums += view.pitch) least = _mm256_min_epu8(least, difference(sums));
  return has_equal(least, window.right - window.left) || has_equal(difference(sums), best.x - window.left);
}

}  // namespace
}  // namespace c63::cpu
