#pragma once

// Successive elimination. A lower bound of the SAD, which costs one VABSDIFF4, rules out most candidates. Only the
// others are compared sample by sample.
//
// Let S be the sum of a 4x4 square of samples. It is reduced to a byte A = clamp(S - low, 0, 256 * 2^k - 1) >> k, with
// the same low and k for all squares that are compared. Let f be the value of the bits that the shift drops from the
// current block's square. Then
//
//   2^k |A1 - A2| <= |S1 - S2| + max(f, 2^k - 1 - f),
//
// because clamping never increases a difference, and the value of the bits dropped from the reference's square lies in
// 0..2^k-1. An 8x8 block is four such squares, and the differences of their sums add up to at most its SAD. So
//
//   SAD >= 2^k V - slack,  V = the sum of the four |A1 - A2|, slack = the sum of the four max(f, 2^k - 1 - f).
//
// If this bound of a candidate exceeds the SAD of another, allowed candidate, the first one is not the minimum. All
// others are compared, so the first minimum in raster order is among them. It has the smallest key. low and k do not
// change the result, only the number of candidates that are compared. The bytes cover four standard deviations of the
// current sums around their mean, with k at most 3.
//
// A tile is 8x4 blocks. For each sample of its window two words are stored: the four samples from this one on (in
// motion_eliminate_queue.cuh: eight), and the four bytes A of the 8x8 block that starts here. A warp searches a block.
// A lane owns 16 pairs of candidates. A pair is two candidates in the rows dy and dy + 1, dy even, in the column (lane
// + 4 dy) % 32. Two rows of the window are 2 * 92 words apart, which is -8 modulo 32 banks. So lanes never conflict in
// a bank, whichever pairs they read. A lane's consecutive pairs are in different columns. So if good candidates lie
// close together, they belong to different lanes.

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/motion_common.cuh"

namespace c63::cuda {

inline constexpr int kEliminateColumns = 8;  ///< blocks per row of a tile
inline constexpr int kEliminateRows = 4;
inline constexpr int kEliminateBlocks = kEliminateRows * kEliminateColumns;
inline constexpr int kSquare = 32;          ///< candidates of a pass, in x and in y
inline constexpr int kPairs = kSquare / 2;  ///< pairs of candidates that a lane owns

/// The sizes of a tile's window, in samples.
inline constexpr int kWordColumns = kBlockSize * kEliminateColumns + kSquare - 4;
inline constexpr int kWordRows = kBlockSize * kEliminateRows + kSquare - 1;
inline constexpr int kSumColumns = kBlockSize * (kEliminateColumns - 1) + kSquare;
inline constexpr int kSumRows = kBlockSize * (kEliminateRows - 1) + kSquare;
inline constexpr int kSumGroups = (kSumColumns + kWarp - 1) / kWarp;  ///< groups of columns, one warp each
static_assert(kWordColumns % 4 == 0 && 2 * kWordColumns % kWarp == kWarp - 8);

#if defined(__CUDACC__)

/// Adds four samples to `sum`.
__device__ __forceinline__ std::uint32_t add_samples(std::uint32_t word, std::uint32_t sum) {
  return __dp4a(word, 0x01010101U, sum);
}

/// How a sum S is reduced to its byte A. `shift` is k.
struct SumScale {
  std::uint32_t low;
  int shift;
};

/// Returns the scale with which bytes A cover four standard deviations around the mean of the current blocks' sums.
__device__ __forceinline__ SumScale scale_for(std::uint32_t mean, std::uint32_t mean_of_squares) {
  const auto variance = static_cast<int>(mean_of_squares - mean * mean);
  const int shift = (variance > 64 * 64) + (variance > 128 * 128) + (variance > 256 * 256);
  return {static_cast<std::uint32_t>(max(static_cast<int>(mean) - (128 << shift), 0)), shift};
}

/// The byte A of a square of the current block, and the square's share of the slack: max(f, 2^k - 1 - f).
struct CurrentSquare {
  std::uint32_t byte;
  std::uint32_t slack;
};

__device__ __forceinline__ CurrentSquare current_square(std::uint32_t sum, const SumScale& scale) {
  const int most = (1 << scale.shift) - 1;
  const int clamped = min(max(static_cast<int>(sum - scale.low), 0), (256 << scale.shift) - 1);
  const int dropped = clamped & most;
  return {static_cast<std::uint32_t>(clamped >> scale.shift), static_cast<std::uint32_t>(max(dropped, most - dropped))};
}

/// Both functions return the samples x to x+7. A window has one element for each x: either a word with the four samples
/// from x on, or two words with all eight.
__device__ __forceinline__ uint2 eight_samples(const std::uint32_t* word) { return {word[0], word[4]}; }
__device__ __forceinline__ uint2 eight_samples(const uint2* words) { return *words; }

/// Computes the bytes A for kRows rows in a column of the window, from top to bottom. The word of (x, y) has the bytes
/// of the squares at (x, y), (x + 4, y), (x, y + 4) and (x + 4, y + 4).
template <int kRows, typename Word>
__device__ __forceinline__ void sum_column(const Word* words, std::uint32_t* sums, const SumScale& scale) {
  static_assert(kRows % 4 == 0);
  // Here, a word holds the sums S of two squares, 16 bits each. Their bytes A become bytes 1 and 3 of a word.
  const std::uint32_t minus_low = (0x10000U - scale.low) % 0x10000U * 0x10001U;
  const std::uint32_t most = ((256U << scale.shift) - 1) * 0x10001U;
  const std::uint32_t up = 256U >> scale.shift;
  const auto across = [&](int row) {  // sums of four samples of a row, for both squares
    const uint2 samples = eight_samples(words + row * kWordColumns);
    return (add_samples(samples.y, 0) << 16) + add_samples(samples.x, 0);
  };
  std::uint32_t rows[4] = {across(0), across(1), across(2), 0};
  std::uint32_t sum = rows[0] + rows[1] + rows[2];
  std::uint32_t above[4];
#pragma unroll
  for (int y = 0; y < kRows + 4; ++y) {
    std::uint32_t& row = rows[(y + 3) % 4];
    const std::uint32_t next = across(y + 3);
    sum = sum + next - row;
    row = next;
    const std::uint32_t below = __viaddmin_s16x2_relu(sum, minus_low, most) * up;
    if (y >= 4) sums[(y - 4) * kWordColumns] = __byte_perm(above[y % 4], below, 0x7531);
    above[y % 4] = below;
  }
}

/// Returns the column of a lane's pair of candidates: one in row dy, the other one below it in row dy + 1. `dy` is even.
/// Rows and columns count from the pass's first candidate. The start of this file says why the column depends on dy.
[[nodiscard]] __device__ __forceinline__ unsigned pair_column(unsigned lane, unsigned dy) {
  return (lane + 4 * dy) % kSquare;
}

/// The candidates of a pass that lie in a block's search window: `width` columns from `left` on, and `height` rows from
/// `top` on.
struct AllowedCandidates {
  unsigned left;
  unsigned top;
  unsigned width;
  unsigned height;

  /// Returns the candidates inside `window`. (low_x, low_y) is the sample of the pass's first candidate.
  [[nodiscard]] static __device__ __forceinline__ AllowedCandidates of(const SearchWindow& window, int low_x,
                                                                       int low_y) {
    const int left = max(window.left - low_x, 0);
    const int top = max(window.top - low_y, 0);
    return {static_cast<unsigned>(left), static_cast<unsigned>(top),
            static_cast<unsigned>(max(min(window.right - low_x, kSquare) - left, 0)),
            static_cast<unsigned>(max(min(window.bottom - low_y, kSquare) - top, 0))};
  }
  [[nodiscard]] __device__ __forceinline__ bool all() const { return width == kSquare && height == kSquare; }
  [[nodiscard]] __device__ __forceinline__ bool has_column(unsigned dx) const { return dx - left < width; }
  [[nodiscard]] __device__ __forceinline__ bool has_row(unsigned dy) const { return dy - top < height; }

  /// Returns a mask: bit dy is set if the lane's pair in row dy has an allowed candidate.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t pairs(unsigned lane) const {
    if (height == 0) return 0;
    std::uint32_t columns = 0;  // the columns repeat every fourth pair
#pragma unroll
    for (unsigned p = 0; p < 4; ++p) {
      if (has_column(pair_column(lane, 2 * p))) columns |= 0x01010101U << (2 * p);
    }
    const std::uint32_t from_top = 0xFFFFFFFFU << (top & ~1U);
    const std::uint32_t to_bottom = 0xFFFFFFFFU >> (kSquare - top - height);
    return columns & from_top & to_bottom;
  }
};

/// The SADs of the two candidates of a pair. In pair_sads(), `from` points to the words of the upper candidate.
struct PairSads {
  std::uint32_t upper = 0;
  std::uint32_t lower = 0;
};
template <typename Word>
__device__ __forceinline__ PairSads pair_sads(const Word* from, const uint4 (&current)[kBlockSize / 2]) {
  std::uint32_t upper = 0;
  std::uint32_t lower = 0;
#pragma unroll
  for (int row = 0; row <= kBlockSize; ++row) {
    const uint2 samples = eight_samples(from + row * kWordColumns);
    if (row < kBlockSize) {
      const uint4& two = current[row / 2];
      upper = absdiff4_add(samples.x, row % 2 == 0 ? two.x : two.z, upper);
      upper = absdiff4_add(samples.y, row % 2 == 0 ? two.y : two.w, upper);
    }
    if (row > 0) {
      const uint4& two = current[(row - 1) / 2];
      lower = absdiff4_add(samples.x, row % 2 != 0 ? two.x : two.z, lower);
      lower = absdiff4_add(samples.y, row % 2 != 0 ? two.y : two.w, lower);
    }
  }
  return {upper, lower};
}

/// Returns the bounds of two pairs of candidates. A pair's bound is the smaller V of its two candidates. The lower half
/// of the word is for the pair whose bytes A are at `from`, the upper half for the pair `kBelow` rows further down.
template <int kBelow>
__device__ __forceinline__ std::uint32_t pair_bounds(const std::uint32_t* from, std::uint32_t bytes) {
  constexpr int kOffset = kBelow * kWordColumns;
  const std::uint32_t upper = (absdiff4_add(from[kOffset], bytes, 0) << 16) + absdiff4_add(from[0], bytes, 0);
  const std::uint32_t lower =
      (absdiff4_add(from[kOffset + kWordColumns], bytes, 0) << 16) + absdiff4_add(from[kWordColumns], bytes, 0);
  return __vminu2(upper, lower);
}

/// Finds a lane's pair with the smallest bound. Bounds are 0 to 1023, and each word holds the bounds of two pairs. The
/// result is the pair's bit in a mask: 2p for the lower half of word p, 2p + 16 for the upper half.
class MostPromising {
 public:
  __device__ __forceinline__ MostPromising() {
    // Hides the value 64 of `room_` from the compiler. If it knew the value, it would shift instead of multiplying.
    // Shifts use the same pipe as the absolute differences.
    asm("" : "+r"(room_));
  }
  /// Takes word p of the bounds into account. Called with p = 0, 1, 2 and so on, an even number of times.
  __device__ __forceinline__ void add(int p, std::uint32_t bounds) {
    marked_[p % 2] = bounds * room_ + static_cast<std::uint32_t>((2 * p + 16) << 16 | 2 * p);
    if (p == 1) smallest_ = __vminu2(marked_[0], marked_[1]);
    if (p % 2 != 0 && p > 1) smallest_ = __vimin3_u16x2(smallest_, marked_[0], marked_[1]);
  }
  [[nodiscard]] __device__ __forceinline__ unsigned bit() const { return min(smallest_ & 0xFFFFU, smallest_ >> 16) % 32; }

 private:
  std::uint32_t room_ = 64;
  std::uint32_t smallest_ = 0;
  std::uint32_t marked_[2];  ///< 64 times a bound, plus the pair's bit
};

/// Returns a mask of the pairs whose bounds do not exceed `limit`. Bounds and limit must be below 0x8000.
template <int kHalf>
__device__ __forceinline__ std::uint32_t pairs_within(std::uint32_t limit, const std::uint32_t (&bounds)[kHalf]) {
  const std::uint32_t limits = limit * 0x10001U | 0x80008000U;
  std::uint32_t pairs = 0;
  if constexpr (kHalf == 8) {
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      std::uint32_t signs;  // of words p and p + 4, one byte per half
      asm("prmt.b32 %0, %1, %2, 0xFBD9;" : "=r"(signs) : "r"(limits - bounds[p]), "r"(limits - bounds[p + 4]));
      pairs |= signs & (0x01010101U << (2 * p));
    }
  } else {
#pragma unroll
    for (int p = 0; p < kHalf; ++p) pairs |= ((limits - bounds[p]) & 0x80008000U) >> 15 << (2 * p);
  }
  return pairs;
}

/// Compares a pair's two candidates in full and returns the smaller of their keys. A key is sad << 16 | the candidate's
/// place in the window. Such keys have the same order as those of candidate_key(). `words` points to the word of the
/// pass's first candidate.
template <bool kAll, typename Word>
__device__ __forceinline__ std::uint32_t compare_pair(const Word* words, const uint4 (&current)[kBlockSize / 2],
                                                      const AllowedCandidates& allowed, unsigned lane, unsigned dy) {
  const unsigned dx = pair_column(lane, dy);
  const unsigned place = dy * kWordColumns + dx;
  const PairSads sads = pair_sads(words + place, current);
  std::uint32_t upper_key = sads.upper * 65536 + place;
  std::uint32_t lower_key = sads.lower * 65536 + (place + kWordColumns);
  if constexpr (!kAll) {
    if (!allowed.has_column(dx) || !allowed.has_row(dy)) upper_key = kNoCandidate;
    if (!allowed.has_column(dx) || !allowed.has_row(dy + 1)) lower_key = kNoCandidate;
  }
  return min(upper_key, lower_key);
}

/// The current block as eliminate() needs it.
struct CurrentBlock {
  const uint4* rows;     ///< two rows each
  std::uint32_t bytes;   ///< the bytes A of its squares
  std::uint32_t slacks;  ///< one byte per square
  int shift;
};

/// Returns the smallest key of a block's candidates. It may ignore candidates with a SAD above `known_sad`. `words` and
/// `sums` point to the elements of the pass's first candidate.
template <bool kAll, typename Word>
__device__ __forceinline__ std::uint32_t eliminate(const Word* words, const std::uint32_t* sums,
                                                   const CurrentBlock& block, const AllowedCandidates& allowed,
                                                   std::uint32_t known_sad) {
  constexpr int kHalf = kPairs / 2;
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint32_t* columns[4];  // the columns repeat every fourth pair
#pragma unroll
  for (unsigned p = 0; p < 4; ++p) columns[p] = sums + pair_column(lane, 2 * p);
  std::uint32_t bounds[kHalf];  // lower half: of pair p; upper half: of pair p + 8
  MostPromising promising;
#pragma unroll
  for (int p = 0; p < kHalf; ++p) {
    bounds[p] = pair_bounds<kPairs>(columns[p % 4] + 2 * p * kWordColumns, block.bytes);
    promising.add(p, bounds[p]);
  }
  uint4 current[kBlockSize / 2];
#pragma unroll
  for (int i = 0; i < kBlockSize / 2; ++i) current[i] = block.rows[i];

  // Each lane first compares its most promising pair.
  const unsigned first = promising.bit();
  std::uint32_t best = warp_min(compare_pair<kAll>(words, current, allowed, lane, first));

  std::uint32_t limit = add_samples(block.slacks, min(best >> 16, known_sad)) >> block.shift;
  if constexpr (!kAll) limit = min(limit, 4U * 255);  // the largest bound, if no allowed candidate was compared yet
  std::uint32_t left = pairs_within(limit, bounds);  // bit dy: the lane's pair in row dy
  left &= ~(1U << first);
  if constexpr (!kAll) left &= allowed.pairs(lane);
  while (left != 0) {
    const auto dy = static_cast<unsigned>(31 - __clz(static_cast<int>(left)));
    left ^= 1U << dy;
    best = min(best, compare_pair<kAll>(words, current, allowed, lane, dy));
  }
  __syncwarp();
  return warp_min(best);
}

#endif

}  // namespace c63::cuda
