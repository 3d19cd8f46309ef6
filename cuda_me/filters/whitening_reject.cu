// Outliers in time: a thread sorts the history of one sample in registers, by a network of exchanges, twice.
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 128;

/// Sorts kCount (a power of two) values that the compiler keeps in registers: Batcher's bitonic network.
template <int kCount, typename V>
__device__ void sort(V (&values)[kCount]) {
#pragma unroll
  for (int size = 2; size <= kCount; size *= 2) {
#pragma unroll
    for (int distance = size / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int other = i ^ distance;
        if (other > i) {
          const V a = values[i], b = values[other];
          const bool swap = (i & size) == 0 ? b < a : a < b;
          values[i] = swap ? b : a;
          values[other] = swap ? a : b;
        }
      }
    }
  }
}

/// Element `index` of values in registers.
template <int kCount, typename V>
__device__ V pick(const V (&values)[kCount], int index) {
  V found = values[0];
#pragma unroll
  for (int i = 1; i < kCount; ++i) found = i == index ? values[i] : found;
  return found;
}

template <int kCount, typename Sample>
__global__ void __launch_bounds__(kThreads) reject_kernel(const __grid_constant__ FrameList<Sample> history, int width,
                                                          int height, float threshold, Sample* out) {
  using V = std::conditional_t<std::is_same_v<Sample, float>, float, int>;
  const V most = std::is_same_v<Sample, float> ? static_cast<V>(INFINITY) : static_cast<V>(1 << 20);
  const std::size_t samples = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const int middle = (history.count - 1) / 2;
  for (std::size_t at = global_thread(); at < samples; at += global_threads()) {
    const int x = static_cast<int>(at % static_cast<std::size_t>(width));
    const int y = static_cast<int>(at / static_cast<std::size_t>(width));
    const auto load = [&](int k) { return static_cast<V>(history.data[k][y * history.pitch[k] + x]); };
    V values[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) values[k] = k < history.count ? load(k) : most;
    sort(values);
    const V median = pick(values, middle);
#pragma unroll
    for (int k = 0; k < kCount; ++k) values[k] = k < history.count ? abs(load(k) - median) : most;
    sort(values);
    const float deviation = 1.4826F * static_cast<float>(pick(values, middle));
    const float limit = threshold * fmaxf(deviation, static_cast<float>(kMinDeviation));
    for (int k = 0; k < history.count; ++k) {
      const V value = load(k);
      const bool away = static_cast<float>(abs(value - median)) > limit;
      out[static_cast<std::size_t>(k) * samples + at] = static_cast<Sample>(away ? median : value);
    }
  }
}

}  // namespace

template <typename Sample>
void reject_all(CUstream_st* stream, const FrameList<Sample>& history, int width, int height, float threshold,
                Sample* out) {
  const std::size_t samples = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const LaunchShape shape{dim3(static_cast<unsigned>(std::min<std::size_t>(divide_up(samples, kThreads), 65536))),
                          dim3(kThreads)};
  const auto run = [&](auto kernel) { launch("reject", kernel, shape, stream, history, width, height, threshold, out); };
  if (history.count <= 8) {
    run(reject_kernel<8, Sample>);
  } else if (history.count <= 16) {
    run(reject_kernel<16, Sample>);
  } else if (history.count <= 32) {
    run(reject_kernel<32, Sample>);
  } else {
    run(reject_kernel<64, Sample>);
  }
}

template void reject_all(CUstream_st*, const FrameList<std::uint8_t>&, int, int, float, std::uint8_t*);
template void reject_all(CUstream_st*, const FrameList<float>&, int, int, float, float*);

}  // namespace c63::cuda::kernels
