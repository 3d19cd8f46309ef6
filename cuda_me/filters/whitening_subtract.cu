// Computes the output of whitening: a frame minus the weighted sum of its history. Each thread computes four samples.
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;

template <typename Sample>
struct alignas(kEach * sizeof(Sample)) Four {
  Sample value[kEach];
};

template <typename Sample>
__device__ Four<Sample> load_four(const Sample* from, int left, bool aligned) {
  if (aligned && left >= kEach) return *reinterpret_cast<const Four<Sample>*>(from);
  Four<Sample> four{};
  for (int i = 0; i < kEach && i < left; ++i) four.value[i] = from[i];
  return four;
}

template <typename Sample>
__global__ void __launch_bounds__(kThreads) subtract_kernel(const __grid_constant__ FrameList<Sample> frames,
                                                            const float* __restrict__ weights,
                                                            BasicPlaneView<float> out, bool out_aligned) {
  const std::size_t groups_a_row = (static_cast<std::size_t>(out.width) + kEach - 1) / kEach;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(out.height);
  for (std::size_t group = global_thread(); group < groups; group += global_threads()) {
    const int y = static_cast<int>(group / groups_a_row);
    const int x = static_cast<int>(group % groups_a_row) * kEach;
    const int left = out.width - x;
    float total[kEach] = {};
#pragma unroll 8
    for (int k = 1; k < frames.count; ++k) {
      const Four<Sample> s = load_four(frames.data[k] + y * frames.pitch[k] + x, left, frames.aligned);
      const float weight = weights[k - 1];
#pragma unroll
      for (int i = 0; i < kEach; ++i) total[i] += weight * static_cast<float>(s.value[i]);
    }
    const Four<Sample> s = load_four(frames.data[0] + y * frames.pitch[0] + x, left, frames.aligned);
    Four<float> result;
#pragma unroll
    for (int i = 0; i < kEach; ++i) result.value[i] = static_cast<float>(s.value[i]) - total[i];
    float* to = out.data + y * out.pitch + x;
    if (out_aligned && left >= kEach) {
      *reinterpret_cast<Four<float>*>(to) = result;
    } else {
      for (int i = 0; i < kEach && i < left; ++i) to[i] = result.value[i];
    }
  }
}

}  // namespace

template <typename Sample>
void subtract_all(CUstream_st* stream, const FrameList<Sample>& frames, const float* weights,
                  BasicPlaneView<float> out) {
  const std::size_t groups =
      divide_up(static_cast<std::size_t>(out.width), kEach) * static_cast<std::size_t>(out.height);
  const bool out_aligned = is_aligned(out.data, 16) && out.pitch % kEach == 0;
  launch("subtract", subtract_kernel<Sample>,
         {dim3(static_cast<unsigned>(std::min<std::size_t>(divide_up(groups, kThreads), 65536))), dim3(kThreads)},
         stream, frames, weights, out, out_aligned);
}

template void subtract_all(CUstream_st*, const FrameList<std::uint8_t>&, const float*, BasicPlaneView<float>);
template void subtract_all(CUstream_st*, const FrameList<float>&, const float*, BasicPlaneView<float>);

}  // namespace c63::cuda::kernels
