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

/// The smallest keys that a lane has seen, in ascending order. A key is a cost and a candidate in one word.
template <int kCount>
struct KeyList {
  std::uint32_t keys[kCount];

  __device__ KeyList() {
#pragma unroll
    for (std::uint32_t& key : keys) key = kNoCandidate;
  }
  __device__ __forceinline__ void insert(std::uint32_t key) {
    if constexpr (kCount == 1) {
      keys[0] = min(keys[0], key);
    } else {
      if (key >= keys[kCount - 1]) return;
#pragma unroll
      for (std::uint32_t& at : keys) {
        const std::uint32_t larger = max(at, key);
        at = min(at, key);
        key = larger;
      }
    }
  }
  /// Removes and returns the smallest key of all lanes. No two lanes may have the same key. The whole warp takes part.
  __device__ __forceinline__ std::uint32_t take_smallest() {
    const std::uint32_t smallest = warp_min(keys[0]);
    if (keys[0] == smallest) {
#pragma unroll
      for (int i = 0; i + 1 < kCount; ++i) keys[i] = keys[i + 1];
      keys[kCount - 1] = kNoCandidate;
    }
    return smallest;
  }
};

/// The largest bound that is stored. Larger ones are stored as this value.
inline constexpr std::uint32_t kMostBound = 1023;

/// What a vector costs in a search by SAD alone: nothing. `first` is key_of_vector() of the pass's first candidate.
struct NoCost {
  static constexpr bool kCosts = false;
  std::uint32_t first;

  template <typename Pairs>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t add_to(std::uint32_t bounds, unsigned, unsigned, int) const {
    return bounds;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t key(std::uint32_t sad, unsigned dx, unsigned dy) const {
    return sad * 65536 + (first + dy * 256 + dx);
  }
};

/// A mask has a bit for each of a lane's pairs of candidates. Bit b, below 16, is for the pair that begins in row b.
/// Bit b + 16 is for the pair that begins in row b + kBelow.
struct WidePairs {  // for windows of 32x32 candidates, as at the start of this file
  static constexpr int kHalf = kPairs / 2;
  static constexpr int kBelow = kPairs;
  static constexpr unsigned kSpan = kSquare;
  [[nodiscard]] static __device__ __forceinline__ unsigned row(unsigned /*lane*/, unsigned p) { return 2 * p; }
  [[nodiscard]] static __device__ __forceinline__ unsigned column(unsigned lane, unsigned dy) { return pair_column(lane, dy); }
  [[nodiscard]] static __device__ __forceinline__ std::uint32_t allowed(const AllowedCandidates& allowed, unsigned lane) {
    return allowed.pairs(lane);
  }
  [[nodiscard]] static __device__ __forceinline__ unsigned row_of_bit(unsigned bit) { return bit; }
};
struct NarrowPairs {  // for windows of 16x16 candidates; four rows of words span half of the banks
  static constexpr int kHalf = 2;
  static constexpr int kBelow = 8;
  static constexpr unsigned kSpan = 16;
  static_assert(4 * kWordColumns % kWarp == kWarp / 2);
  [[nodiscard]] static __device__ __forceinline__ unsigned row(unsigned lane, unsigned p) { return 2 * p + lane / 16 * 4; }
  [[nodiscard]] static __device__ __forceinline__ unsigned column(unsigned lane, unsigned /*dy*/) { return lane % 16; }
  [[nodiscard]] static __device__ __forceinline__ std::uint32_t allowed(const AllowedCandidates& allowed, unsigned lane) {
    std::uint32_t bits = 0;
    if (!allowed.has_column(column(lane, 0))) return 0;
#pragma unroll
    for (unsigned p = 0; p < kHalf; ++p) {
      const unsigned upper = row(lane, p);
      if (allowed.has_row(upper) || allowed.has_row(upper + 1)) bits |= 1U << upper;
      const unsigned lower = upper + kBelow;
      if (allowed.has_row(lower) || allowed.has_row(lower + 1)) bits |= 1U << (upper + 16);
    }
    return bits;
  }
  [[nodiscard]] static __device__ __forceinline__ unsigned row_of_bit(unsigned bit) { return bit % 16 + bit / 16 * kBelow; }
};

/// The current block as eliminate() needs it.
struct CurrentBlock {
  const uint4* rows;     ///< two rows each
  std::uint32_t bytes;   ///< the bytes A of its squares
  std::uint32_t slacks;  ///< one byte per square
  int shift;
};

/// A block of a tile in one pass.
template <typename Word>
struct EliminateBlock {
  const Word* words;  ///< points to the element of the pass's first candidate
  const std::uint32_t* sums;
  CurrentBlock current;
  AllowedCandidates allowed;
};

/// Computes the keys of the two candidates of a pair. Adds those candidates that are allowed to the list.
template <typename Pairs, bool kAll, int kCount, typename Cost, typename Word>
__device__ __forceinline__ void add_pair(KeyList<kCount>& list, const Cost& cost, const Word* words,
                                         const uint4 (&current)[kBlockSize / 2], const AllowedCandidates& allowed,
                                         unsigned lane, unsigned dy) {
  const unsigned dx = Pairs::column(lane, dy);
  const PairSads sads = pair_sads(words + dy * kWordColumns + dx, current);
  if (!kAll && !allowed.has_column(dx)) return;
  if (kAll || allowed.has_row(dy)) list.insert(cost.key(sads.upper, dx, dy));
  if (kAll || allowed.has_row(dy + 1)) list.insert(cost.key(sads.lower, dx, dy + 1));
}

/// Adds the best candidates of a block in this pass to the lists of the lanes: at least the kCount candidates with the
/// smallest keys of all that the lists had or the pass has. `Cost` says what a vector costs in addition to its SAD.
///
/// Let V, k and slack be as at the start of this file, and c the cost of a vector. Then 2^k V + c <= SAD + c + slack. So
/// the bound V + floor(c / 2^k) is at most (SAD + c + slack) / 2^k. Let w be the worst SAD + c in the list. If a
/// candidate's bound exceeds (w + slack) / 2^k, its SAD + c exceeds w. So it is not among the best.
template <typename Pairs, bool kAll, int kCount, typename Cost, typename Word>
__device__ __forceinline__ void eliminate(KeyList<kCount>& list, const Cost& cost, const EliminateBlock<Word>& block) {
  constexpr int kHalf = Pairs::kHalf;
  const unsigned lane = threadIdx.x % kWarp;
  std::uint32_t bounds[kHalf];
  MostPromising promising;
#pragma unroll
  for (int p = 0; p < kHalf; ++p) {
    const unsigned row = Pairs::row(lane, static_cast<unsigned>(p));
    const std::uint32_t* from = block.sums + Pairs::column(lane, row) + row * kWordColumns;
    bounds[p] = cost.template add_to<Pairs>(pair_bounds<Pairs::kBelow>(from, block.current.bytes), lane,
                                            static_cast<unsigned>(p), block.current.shift);
    promising.add(p, bounds[p]);
  }
  uint4 current[kBlockSize / 2];
#pragma unroll
  for (int i = 0; i < kBlockSize / 2; ++i) current[i] = block.current.rows[i];

  // Each lane first computes the keys of its most promising pair of candidates. Take the best key of each lane: the
  // kCount-th smallest of these is an upper limit for the kCount-th smallest key of all candidates.
  const unsigned own_row = Pairs::row(lane, 0);  // bit 0 of `bounds` is this row
  const unsigned first = promising.bit() + own_row;
  add_pair<Pairs, kAll>(list, cost, block.words, current, block.allowed, lane, Pairs::row_of_bit(first));
  std::uint32_t own = list.keys[0];
  std::uint32_t worst = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    worst = warp_min(own);
    if (own == worst) own = kNoCandidate;
  }
  std::uint32_t limit = add_samples(block.current.slacks, worst >> 16) >> block.current.shift;
  if constexpr (!kAll || Cost::kCosts) limit = min(limit, kMostBound);  // no allowed candidate was compared yet, or few
  std::uint32_t left = pairs_within(limit, bounds) << own_row;
  left &= ~(1U << first);
  if constexpr (!kAll) left &= Pairs::allowed(block.allowed, lane);
  while (left != 0) {
    const auto bit = static_cast<unsigned>(31 - __clz(static_cast<int>(left)));
    left ^= 1U << bit;
    add_pair<Pairs, kAll>(list, cost, block.words, current, block.allowed, lane, Pairs::row_of_bit(bit));
  }
  __syncwarp();
}

#endif

}  // namespace c63::cuda
