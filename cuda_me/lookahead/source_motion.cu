// Finds the motion of blocks between two source frames before they are coded (defined in decide/source_motion.cpp).
//
// The search of a block begins with the results of three neighbours: left, above, and above right. So the blocks of a
// row are searched one after another, and the row above must always be two blocks ahead. A warp takes a row and
// compares eight vectors at a time. If the row above is not two blocks ahead yet, the warp waits for its results. If
// the same thread block searches the row above, they are in shared memory, otherwise in the output array. An entry of
// the output array is one word. It has an invalid value until it is written, so the array itself shows the progress.

#include "codec/search_window.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/lookahead/lookahead_kernels.h"
#include "cuda_me/runtime/launch.h"
#include "decide/reference_choice.h"

namespace c63::cuda {
namespace {

constexpr int kRows = 8;  ///< rows of a thread block, one per warp
constexpr int kThreads = kRows * kWarp;
constexpr int kTogether = 8;  ///< vectors that a warp compares at a time; each lane has two rows of samples
constexpr int kLanes = kWarp / kTogether;
constexpr int kRing = 4;  ///< vectors at one distance around the best one; two rings are compared at a time

/// A block's entry in the output array as one word, so that both members are read and written at once. No squared error
/// is as large as the one in kInvalid.
using Entry = unsigned long long;
static_assert(sizeof(SourceBlock) == sizeof(Entry) && offsetof(SourceBlock, squared_error) == 4);
constexpr Entry kInvalid = ~Entry{0};

__device__ __forceinline__ MotionVector vector_of_entry(Entry entry) {
  return {static_cast<std::int8_t>(entry & 0xFFU), static_cast<std::int8_t>(entry >> 8 & 0xFFU)};
}
__device__ __forceinline__ Entry entry_of(MotionVector vector, std::uint32_t squared_error) {
  return static_cast<Entry>(squared_error) << 32 | static_cast<Entry>(static_cast<std::uint8_t>(vector.y)) << 8 |
         static_cast<std::uint8_t>(vector.x);
}

__device__ __forceinline__ Entry load_entry(const SourceBlock* motion, int block) {
  return *reinterpret_cast<const volatile Entry*>(motion + block);
}
/// Waits until a block's motion has been found, and returns its vector to all lanes. `seen` is the block's entry as it
/// was read before, in lane 0.
__device__ __forceinline__ MotionVector wait_for(const SourceBlock* motion, int block, Entry seen) {
  for (;;) {
    const Entry entry = __shfl_sync(kFullWarp, seen, 0);
    if (entry != kInvalid) return vector_of_entry(entry);
    __nanosleep(40);
    seen = load_entry(motion, block);
  }
}

/// The vector of a block in shared memory: the lower half of the block's entry. No barrier orders the accesses of
/// different warps, so all accesses are atomic.
using SharedVector = std::uint32_t;
constexpr SharedVector kInvalidVector = 0xFFFFFFFFU;
__device__ __forceinline__ MotionVector wait_for_shared(SharedVector* vector) {
  for (;;) {
    SharedVector seen = 0;
    if (threadIdx.x % kWarp == 0) seen = atomicOr(vector, 0U);
    seen = __shfl_sync(kFullWarp, seen, 0);
    if (seen != kInvalidVector) return vector_of_entry(seen);
  }
}

/// A lane's two rows of samples.
struct LaneRows {
  uint2 upper;
  uint2 lower;
};

/// Data for the search of a block, loaded while the previous block is searched.
struct Fetched {
  LaneRows current;
  Entry hint;
  Entry above_right;  ///< the entry when it was loaded, maybe invalid; not used if the warp waits in shared memory
};

/// The search of one block by a warp. It goes from a start vector to better neighbours, first in steps of two samples,
/// then in steps of one. Each part ends if no neighbour is better, or after kMostSteps steps. All lanes know the best
/// vector so far.
class Descent {
 public:
  /// `reference` points to the first of the lane's two rows, as the zero vector predicts it.
  __device__ __forceinline__ Descent(const PlaneGeometry& plane, const LaneRows& current, const std::uint8_t* reference, int column,
                                     int row)
      : width_(plane.width),
        least_x_(max(-127, -column * kBlockSize)),
        most_x_(min(127, plane.width - kBlockSize - column * kBlockSize)),
        least_y_(max(-127, -row * kBlockSize)),
        most_y_(min(127, plane.height - kBlockSize - row * kBlockSize)),
        current_(current),
        reference_(reference) {}

  /// Starts at the cheapest of five vectors: the zero vector and the parameters. A parameter takes part only if it
  /// exists and may be taken. Of equally cheap vectors, the zero vector wins, otherwise the first in the order of the
  /// parameters. The zero vector's cost is reduced by kStillBonus.
  __device__ __forceinline__ void begin(MotionVector hint, MotionVector left, bool has_above, MotionVector above, bool has_right,
                                        MotionVector above_right) {
    const MotionVector own = which() == 1   ? hint
                             : which() == 2 ? left
                             : which() == 3 ? above
                             : which() == 4 ? above_right
                                            : MotionVector{};
    const bool exists = which() <= 2 || (which() == 3 && has_above) || (which() == 4 && has_right);
    const bool counts = which() == 0 || (exists && may_take(own.x, own.y));
    std::uint32_t cost = sad_of(own.x, own.y, counts);
    if (which() == 0) cost -= min(cost, kStillBonus);
    const std::uint32_t smallest = warp_min(counts ? key(cost) : kNoCandidate);
    const std::uint32_t best = smallest % kTogether;
    const MotionVector vector = best == 1   ? hint
                                : best == 2 ? left
                                : best == 3 ? above
                                : best == 4 ? above_right
                                            : MotionVector{};
    x_ = vector.x;
    y_ = vector.y;
    keep(smallest);
  }

  /// Moves the best vector by two samples as long as that makes it cheaper, then by one sample. Vectors at both
  /// distances are compared at once. Mostly no vector at distance 2 is better, and then the results for distance 1 are
  /// already known.
  __device__ __forceinline__ void go_down() {
    std::uint32_t near = 0;
    bool is_known = false;
    for (int i = 0; i < kMostSteps && !is_known; ++i) {
      const std::uint32_t own = ring_key(true);
      const std::uint32_t far = warp_min(which() < kRing ? own : kNoCandidate);
      near = warp_min(which() < kRing ? kNoCandidate : own);
      is_known = far / kTogether >= cost_;
      if (!is_known) step(far, 2);
    }
    for (int i = 0; i < kMostSteps; ++i) {
      if (!is_known) near = warp_min(ring_key(false));
      is_known = false;
      if (near / kTogether >= cost_) break;
      step(near, 1);
    }
  }

  [[nodiscard]] __device__ __forceinline__ MotionVector best() const {
    return {static_cast<std::int8_t>(x_), static_cast<std::int8_t>(y_)};
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t squared_error() const { return sum_of_lanes(error_); }

 private:
  /// Returns which of the kTogether vectors the lane compares.
  [[nodiscard]] static __device__ __forceinline__ unsigned which() { return threadIdx.x % kWarp / kLanes; }
  /// Returns a vector's cost with which() in the lowest bits. So the smallest key belongs to the cheapest vector.
  [[nodiscard]] static __device__ __forceinline__ std::uint32_t key(std::uint32_t cost) { return cost * kTogether + which(); }
  /// The x and y of direction number `i`, from the best vector to the four around it: up, left, right, down.
  [[nodiscard]] static __device__ __forceinline__ int ring_x(unsigned i) { return i == 1 ? -1 : i == 2 ? 1 : 0; }
  [[nodiscard]] static __device__ __forceinline__ int ring_y(unsigned i) { return i == 0 ? -1 : i == 3 ? 1 : 0; }

  /// Returns true if the vector is not zero and may be taken: it can be coded, and stays inside the plane.
  [[nodiscard]] __device__ __forceinline__ bool may_take(int x, int y) const {
    return (x | y) != 0 && x >= least_x_ && x <= most_x_ && y >= least_y_ && y <= most_y_;
  }
  /// Returns the SAD of the lane's vector, or 0 if `counts` is false. Also sets `compared_`. All lanes take part.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sad_of(int x, int y, bool counts) {
    std::uint32_t sad = 0;
    compared_ = 0;
    if (counts) {
      const std::uint8_t* const from = reference_ + static_cast<std::ptrdiff_t>(y) * width_ + x;
      const uint2 upper = load_row_anywhere(from);
      const uint2 lower = load_row_anywhere(from + width_);
      sad = absdiff4_add(current_.upper.x, upper.x, absdiff4_add(current_.upper.y, upper.y, 0));
      sad = absdiff4_add(current_.lower.x, lower.x, absdiff4_add(current_.lower.y, lower.y, sad));
      compared_ = add_squared_differences(current_.upper.x, upper.x, add_squared_differences(current_.upper.y, upper.y, 0));
      compared_ = add_squared_differences(current_.lower.x, lower.x, add_squared_differences(current_.lower.y, lower.y, compared_));
    }
    return sum_of_lanes<kLanes>(sad);
  }
  /// Returns the key of the lane's vector next to the best one. If `both` is true, half of the lanes compare vectors at
  /// distance 2, otherwise these lanes compare nothing. The other lanes compare vectors at distance 1. The key is
  /// kNoCandidate if the vector is not compared or may not be taken.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t ring_key(bool both) {
    const int away = which() < kRing ? 2 : 1;
    const int x = x_ + away * ring_x(which() % kRing);
    const int y = y_ + away * ring_y(which() % kRing);
    const bool counts = (both || which() >= kRing) && may_take(x, y);
    const std::uint32_t sad = sad_of(x, y, counts);
    return counts ? key(sad) : kNoCandidate;
  }
  __device__ __forceinline__ void step(std::uint32_t smallest, int away) {
    x_ += away * ring_x(smallest % kRing);
    y_ += away * ring_y(smallest % kRing);
    keep(smallest);
  }
  /// Stores the cost and the squared error of the new best vector. `smallest` is its key, and it is one of those just
  /// compared.
  __device__ __forceinline__ void keep(std::uint32_t smallest) {
    cost_ = smallest / kTogether;
    error_ = which() == smallest % kTogether ? compared_ : 0;
  }

  int width_;
  int least_x_;
  int most_x_;
  int least_y_;
  int most_y_;
  LaneRows current_;
  const std::uint8_t* reference_;
  int x_ = 0;  ///< the best vector
  int y_ = 0;
  std::uint32_t cost_ = 0;
  std::uint32_t error_ = 0;     ///< the lane's share of the best vector's squared error
  std::uint32_t compared_ = 0;  ///< the lane's share of the squared error of the last compared vector
};

/// The number of entries of a frame's motion: one per luma block, and one more. The last entry starts at -1 and counts
/// the thread blocks that have taken rows.
[[nodiscard]] __host__ __device__ constexpr int entries_of(const FrameLayout& layout) { return layout.first_block[1] + 1; }

constexpr int kClearThreads = 256;

__global__ void __launch_bounds__(kClearThreads)
    clear_motion_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ SourceMotionJobs jobs) {
  const int entry = static_cast<int>(blockIdx.x * kClearThreads + threadIdx.x);
  if (entry < entries_of(layout)) reinterpret_cast<Entry*>(jobs.jobs[blockIdx.y].motion)[entry] = kInvalid;
}

/// If `shares` is true, the rows of a thread block pass vectors on through shared memory. This needs room for the
/// vectors of all its rows.
__global__ void __launch_bounds__(kThreads)
    source_motion_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ SourceMotionJobs jobs, bool shares) {
  extern __shared__ SharedVector shared_vectors[];
  __shared__ unsigned first_row;
  const SourceMotionJob& job = jobs.jobs[blockIdx.y];
  const PlaneGeometry plane = plane_of(layout, 0);
  const int columns = plane.columns;
  // Thread blocks take rows in order. So if a row waits for the row above, that row has been taken already.
  if (threadIdx.x == 0) first_row = (atomicAdd(reinterpret_cast<unsigned*>(job.motion + plane.rows * columns), 1U) + 1) * kRows;
  for (int i = static_cast<int>(threadIdx.x); shares && i < kRows * columns; i += kThreads) shared_vectors[i] = kInvalidVector;
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int row = static_cast<int>(first_row) + warp;
  if (row >= plane.rows) return;
  SharedVector* const found = shared_vectors + warp * columns;
  const bool waits_for_shared = shares && warp > 0;
  const int first = row * columns;
  const std::size_t lane_row = static_cast<std::size_t>(row * kBlockSize + lane % kLanes * 2) * plane.width;
  const auto fetch = [&](int column) {
    Fetched fetched{.current = {}, .hint = 0, .above_right = kInvalid};
    if (column >= columns) return fetched;
    const auto* const from = reinterpret_cast<const uint2*>(job.current + lane_row) + column;
    fetched.current = {__ldg(from), __ldg(from + plane.width / kBlockSize)};
    if (job.hints != nullptr) fetched.hint = __ldg(reinterpret_cast<const Entry*>(job.hints) + first + column);
    if (row > 0 && !waits_for_shared && column + 1 < columns) fetched.above_right = load_entry(job.motion, first - columns + column + 1);
    return fetched;
  };
  const auto vector_above = [&](int column, Entry seen) {
    return waits_for_shared ? wait_for_shared(found - columns + column) : wait_for(job.motion, first - columns + column, seen);
  };
  MotionSums sums;
  MotionVector left{};
  MotionVector above{};
  if (row > 0) above = vector_above(0, kInvalid);
  Fetched next = fetch(0);
  for (int column = 0; column < columns; ++column) {
    const Fetched fetched = next;
    next = fetch(column + 1);
    Descent descent(plane, fetched.current, job.reference + lane_row + column * kBlockSize, column, row);
    const bool has_right = row > 0 && column + 1 < columns;
    MotionVector above_right{};
    if (has_right) above_right = vector_above(column + 1, fetched.above_right);
    descent.begin(scaled_vector(vector_of_entry(fetched.hint), job.hint_factor), left, row > 0, above, has_right, above_right);
    descent.go_down();
    left = descent.best();
    above = above_right;
    const std::uint32_t squared_error = descent.squared_error();
    if (lane != 0) continue;
    const Entry entry = entry_of(left, squared_error);
    if (shares) atomicExch(found + column, static_cast<SharedVector>(entry));
    *reinterpret_cast<volatile Entry*>(job.motion + first + column) = entry;
    sums.logarithms += static_cast<unsigned long long>(error_logarithm(squared_error, job.least));
    sums.squared_error += squared_error;
  }
  if (lane != 0 || job.sums == nullptr) return;
  atomicAdd(&job.sums->logarithms, sums.logarithms);
  atomicAdd(&job.sums->squared_error, sums.squared_error);
}

}  // namespace

void enqueue_source_motion(const FrameLayout& layout, const SourceMotionJobs& jobs, cudaStream_t stream) {
  if (jobs.count == 0) return;
  const Range range("source motion");
  const auto count = static_cast<unsigned>(jobs.count);
  const int rows = layout.mcus / layout.mcu_columns * 2;
  const std::size_t shared_bytes = static_cast<std::size_t>(kRows) * static_cast<std::size_t>(layout.columns[0]) * sizeof(SharedVector);
  const bool shares = shared_bytes < kAlwaysAllowed;
  launch(clear_motion_kernel, {{divide_up(entries_of(layout), kClearThreads), count}, kClearThreads}, stream, layout,
         jobs);
  launch(source_motion_kernel, {{divide_up(rows, kRows), count}, kThreads, shares ? shared_bytes : 0}, stream, layout,
         jobs, shares);
}

}  // namespace c63::cuda
