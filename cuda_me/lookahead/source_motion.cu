// Where the blocks of a frame lie in another one, before either is coded (decide/source_motion.cpp has the definition).
//
// A block begins with what its left neighbour, the one above and the one right of that have found, so a row of blocks is a
// chain, and each row follows the one above at a distance of two blocks. A warp takes a row, and waits where the row above
// is not far enough. What has been found is what says so: a block's entry is invalid until it is there, whole, in one word.

#include "codec/search_window.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/lookahead/lookahead_kernels.h"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"
#include "decide/reference_choice.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kTogether = 4;  // vectors that a warp compares at a time, a row of samples a lane

/// An entry of the motion as one word, which is read and written at once. No error is as large as that of an invalid one.
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
/// Waits until a block's motion has been found, of which the entry was `seen` before; the same for all lanes.
__device__ __forceinline__ MotionVector wait_for(const SourceBlock* motion, int block, Entry seen) {
  for (;;) {
    const Entry entry = __shfl_sync(kFullWarp, seen, 0);
    if (entry != kInvalid) return vector_of_entry(entry);
    __nanosleep(40);
    seen = load_entry(motion, block);
  }
}

/// What a block's search reads first: fetched while the block before it is searched.
struct Fetched {
  uint2 current;    ///< the lane's row
  Entry hint;
  Entry above_right;  ///< as far as it had been found
};

/// The search of one block by a warp; all lanes know the best vector.
class Descent {
 public:
  __device__ __forceinline__ Descent(const PlaneGeometry& plane, const std::uint8_t* reference_row, uint2 current, int column, int row)
      : plane_(plane), column_(column), row_(row), current_(current), reference_(reference_row + column * kBlockSize) {}

  /// Begins with the zero vector, and takes any of two others that is better.
  __device__ __forceinline__ void begin(MotionVector second, MotionVector third) {
    const int which = candidate();
    const MotionVector own = which == 1 ? second : which == 2 ? third : MotionVector{};
    const std::uint32_t sad = sad_at(own, which == 0 || may_take(own));
    const std::uint32_t still = __shfl_sync(kFullWarp, sad, 0);
    best_cost_ = still - min(still, kStillBonus);
    take_best(own, sad, which == 1 || which == 2);
  }
  /// Takes the best of kTogether vectors, of which the lane has its own, if it is better.
  __device__ __forceinline__ void offer(MotionVector own, bool counts) {
    const bool takes = counts && may_take(own);
    take_best(own, sad_at(own, takes), takes);
  }
  __device__ __forceinline__ void go_down() {
    const int which = candidate();
    const int dx = which == 1 ? -1 : which == 2 ? 1 : 0;
    const int dy = which == 0 ? -1 : which == 3 ? 1 : 0;
    for (int step = 2; step >= 1; --step) {
      for (int i = 0; i < kMostSteps; ++i) {
        const MotionVector center = best_;
        const int x = center.x + step * dx;
        const int y = center.y + step * dy;
        const bool sendable = x >= -127 && x <= 127 && y >= -127 && y <= 127;
        offer({static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)}, sendable);
        if (best_ == center) break;
      }
    }
  }

  [[nodiscard]] __device__ __forceinline__ MotionVector best() const { return best_; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t squared_error() const {
    const uint2 other = row_at(best_);
    return sum_of_lanes<8>(add_squared_differences(current_.x, other.x, add_squared_differences(current_.y, other.y, 0)));
  }

  /// Which of kTogether vectors is the lane's.
  [[nodiscard]] static __device__ __forceinline__ int candidate() { return static_cast<int>(threadIdx.x) % kWarp / 8; }

 private:
  [[nodiscard]] __device__ __forceinline__ bool may_take(MotionVector v) const {
    return v != MotionVector{} && vector_is_legal(column_, row_, plane_.width, plane_.height, v.x, v.y);
  }
  [[nodiscard]] __device__ __forceinline__ uint2 row_at(MotionVector v) const {
    return load_row_anywhere(reference_ + static_cast<std::ptrdiff_t>(v.y) * plane_.width + v.x);
  }
  /// Of the lane's vector, where it is one that may be looked at.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sad_at(MotionVector v, bool exists) const {
    std::uint32_t sad = 0;
    if (exists) {
      const uint2 other = row_at(v);
      sad = absdiff4_add(current_.x, other.x, absdiff4_add(current_.y, other.y, 0));
    }
    return sum_of_lanes<8>(sad);
  }
  /// Of equals the first is taken.
  __device__ __forceinline__ void take_best(MotionVector own, std::uint32_t sad, bool counts) {
    const auto which = static_cast<std::uint32_t>(candidate());
    const std::uint32_t smallest = warp_min(counts && may_take(own) ? sad * kTogether + which : kNoCandidate);
    if (smallest / kTogether >= best_cost_) return;
    best_cost_ = smallest / kTogether;
    const int from = static_cast<int>(smallest % kTogether) * 8;
    best_ = {static_cast<std::int8_t>(__shfl_sync(kFullWarp, static_cast<int>(own.x), from)),
             static_cast<std::int8_t>(__shfl_sync(kFullWarp, static_cast<int>(own.y), from))};
  }

  const PlaneGeometry& plane_;
  int column_;
  int row_;
  uint2 current_;
  const std::uint8_t* reference_;  ///< the lane's row where the block itself lies
  MotionVector best_{};
  std::uint32_t best_cost_ = 0;
};

/// Entries of a frame's motion, and how many rows have been taken: one less, modulo 2^32.
[[nodiscard]] __host__ __device__ constexpr int entries_of(const FrameLayout& layout) { return layout.first_block[1] + 1; }

__global__ void __launch_bounds__(kThreads)
    clear_motion_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ SourceMotionJobs jobs) {
  const int entry = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (entry < entries_of(layout)) reinterpret_cast<Entry*>(jobs.jobs[blockIdx.y].motion)[entry] = kInvalid;
}

__global__ void __launch_bounds__(kThreads)
    source_motion_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ SourceMotionJobs jobs) {
  const SourceMotionJob& job = jobs.jobs[blockIdx.y];
  const PlaneGeometry plane = plane_of(layout, 0);
  const unsigned lane = threadIdx.x % kWarp;
  // Rows are taken in order, so that who waits for a row knows that it is being worked on.
  unsigned row_number = 0;
  if (lane == 0) row_number = atomicAdd(reinterpret_cast<unsigned*>(job.motion + plane.rows * plane.columns), 1U) + 1;
  const int row = static_cast<int>(__shfl_sync(kFullWarp, row_number, 0));
  if (row >= plane.rows) return;
  const int first = row * plane.columns;
  const std::size_t lane_row = static_cast<std::size_t>(row * kBlockSize + static_cast<int>(lane) % 8) * plane.width;
  const auto fetch = [&](int column) {
    Fetched fetched{.current = {}, .hint = 0, .above_right = kInvalid};
    if (column >= plane.columns) return fetched;
    fetched.current = __ldg(reinterpret_cast<const uint2*>(job.current + lane_row) + column);
    if (job.hints != nullptr) fetched.hint = __ldg(reinterpret_cast<const Entry*>(job.hints) + first + column);
    if (row > 0 && column + 1 < plane.columns) fetched.above_right = load_entry(job.motion, first - plane.columns + column + 1);
    return fetched;
  };
  MotionSums sums;
  MotionVector left{};
  MotionVector above{};
  if (row > 0) above = wait_for(job.motion, first - plane.columns, kInvalid);
  Fetched next = fetch(0);
  for (int column = 0; column < plane.columns; ++column) {
    const Fetched fetched = next;
    next = fetch(column + 1);
    Descent descent(plane, job.reference + lane_row, fetched.current, column, row);
    descent.begin(scaled_vector(vector_of_entry(fetched.hint), job.hint_factor), left);
    if (row > 0) {
      const bool has_right = column + 1 < plane.columns;
      MotionVector above_right{};
      if (has_right) above_right = wait_for(job.motion, first - plane.columns + column + 1, fetched.above_right);
      const int which = Descent::candidate();
      descent.offer(which == 0 ? above : above_right, which == 0 || (which == 1 && has_right));
      above = above_right;
    }
    descent.go_down();
    left = descent.best();
    const std::uint32_t squared_error = descent.squared_error();
    if (lane == 0) {
      *reinterpret_cast<volatile Entry*>(job.motion + first + column) = entry_of(left, squared_error);
      sums.logarithms += static_cast<unsigned long long>(error_logarithm(squared_error, job.least));
      sums.squared_error += squared_error;
    }
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
  launch("clear_motion_kernel", clear_motion_kernel, {dim3(blocks_for(entries_of(layout), kThreads), count), dim3(kThreads)}, stream,
         layout, jobs);
  launch("source_motion_kernel", source_motion_kernel, {dim3(blocks_for(rows, kThreads / kWarp), count), dim3(kThreads)}, stream, layout,
         jobs);
}

}  // namespace c63::cuda
