// Computes the sums from which a frame's shift follows, with one kernel per frame. Every thread takes one sample that
// is not on the border, and a thread block adds the products of its threads. It stores these sums for the CPU, or adds
// them to the frame's sums by atomics.
#include "cuda_me/filters/shift_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kColumns = 32;
constexpr int kRows = 8;
constexpr int kThreads = kColumns * kRows;

template <typename Sample>
__global__ void __launch_bounds__(kThreads) shift_of_frame(BasicPlaneView<const Sample> reference,
                                                           BasicPlaneView<const Sample> frame, Sum<Sample>* sums,
                                                           Sum<Sample>* blocks) {
  using S = Sum<Sample>;
  __shared__ S partials[kThreads / 32][kShiftSums];
  const int x = 1 + static_cast<int>(blockIdx.x * kColumns + threadIdx.x);
  const int y = 1 + static_cast<int>(blockIdx.y * kRows + threadIdx.y);
  S mine[kShiftSums] = {};
  if (x < reference.width - 1 && y < reference.height - 1) {
    const auto r = derivatives_at(reference, x, y);
    const auto d = 5 * frame.data[y * frame.pitch + x] - r.m;
    const S g = r.g, h = r.h;
    mine[0] = g * d;
    mine[1] = h * d;
    mine[2] = h * h;
    mine[3] = g * h;
    mine[4] = g * g;
  }
  const int t = static_cast<int>(threadIdx.y) * kColumns + static_cast<int>(threadIdx.x);
  for (int k = 0; k < kShiftSums; ++k) {
    const S total = sum_of_lanes(mine[k]);
    if (t % 32 == 0) partials[t / 32][k] = total;
  }
  __syncthreads();
  if (t >= kShiftSums) return;
  S total = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) total += partials[warp][t];
  if (blocks != nullptr) {
    blocks[(blockIdx.y * gridDim.x + blockIdx.x) * kShiftSums + static_cast<unsigned>(t)] = total;
  } else {
    atomic_add(sums + t, total);
  }
}

dim3 grid_of(int width, int height) {
  return dim3(static_cast<unsigned>((width - 2 + kColumns - 1) / kColumns),
              static_cast<unsigned>((height - 2 + kRows - 1) / kRows));
}

}  // namespace

std::size_t shift_step_blocks(int width, int height) {
  const dim3 grid = grid_of(width, height);
  return static_cast<std::size_t>(grid.x) * grid.y;
}

template <typename Sample>
void shift_step(CUstream_st* stream, BasicPlaneView<const Sample> reference, BasicPlaneView<const Sample> frame,
                Sum<Sample>* sums, Sum<Sample>* blocks) {
  launch("shift_of_frame", shift_of_frame<Sample>, {grid_of(reference.width, reference.height), dim3(kColumns, kRows)},
         stream, reference, frame, sums, blocks);
}

template void shift_step(CUstream_st*, ConstPlaneView, ConstPlaneView, std::int64_t*, std::int64_t*);
template void shift_step(CUstream_st*, BasicPlaneView<const float>, BasicPlaneView<const float>, double*, double*);

}  // namespace c63::cuda::kernels
