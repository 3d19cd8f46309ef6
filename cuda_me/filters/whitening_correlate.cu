// Computes sums of products for all pairs of frames (see correlate_all()). A thread block holds the same piece of a row
// from every frame in shared memory, and each thread takes some of the pairs.
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 256;

/// The number of words in a frame's piece of a row. A word is four bytes or one float. The pieces are kStride words
/// apart in shared memory. That is odd, so they start in different banks.
template <typename Sample>
constexpr int kWords = 128;
constexpr int kStride = 129;

__device__ unsigned load_word(const std::uint8_t* from, int left, bool aligned) {
  if (aligned && left >= 4) return *reinterpret_cast<const unsigned*>(from);
  unsigned word = 0;
  for (int i = 0; i < 4 && i < left; ++i) word |= static_cast<unsigned>(from[i]) << (8 * i);
  return word;
}
__device__ float load_word(const float* from, int left, bool) { return left > 0 ? *from : 0.0F; }

__device__ unsigned add_product(unsigned total, unsigned a, unsigned b) { return __dp4a(a, b, total); }
__device__ float add_product(float total, float a, float b) { return total + a * b; }

template <typename Sample>
__global__ void __launch_bounds__(kThreads) correlate_kernel(const __grid_constant__ FrameList<Sample> frames,
                                                             int width, int height, Sum<Sample>* products) {
  using Word = std::conditional_t<std::is_same_v<Sample, float>, float, unsigned>;
  constexpr int kSamples = kWords<Sample> * static_cast<int>(sizeof(Word) / sizeof(Sample));
  __shared__ Word piece[kListedFrames][kStride];
  const int n = frames.count;
  const int pieces = (width + kSamples - 1) / kSamples;
  const std::size_t all = static_cast<std::size_t>(pieces) * static_cast<std::size_t>(height);
  for (std::size_t at = blockIdx.x; at < all; at += gridDim.x) {
    const int y = static_cast<int>(at / static_cast<std::size_t>(pieces));
    const int x = static_cast<int>(at % static_cast<std::size_t>(pieces)) * kSamples;
    for (int i = static_cast<int>(threadIdx.x); i < n * kWords<Sample>; i += kThreads) {
      const int frame = i / kWords<Sample>;
      const int first = x + i % kWords<Sample> * static_cast<int>(sizeof(Word) / sizeof(Sample));
      piece[frame][i % kWords<Sample>] =
          load_word(frames.data[frame] + y * frames.pitch[frame] + first, width - first, frames.aligned);
    }
    __syncthreads();
    for (int pair = static_cast<int>(threadIdx.x); pair < n * (n + 1) / 2; pair += kThreads) {
      int k = 0;
      int rest = pair;
      while (rest >= n - k) rest -= n - k++;
      const int l = k + rest;
      Word total = 0;
#pragma unroll 8
      for (int i = 0; i < kWords<Sample>; ++i) total = add_product(total, piece[k][i], piece[l][i]);
      atomic_add(products + k * n + l, static_cast<Sum<Sample>>(total));
    }
    __syncthreads();
  }
}

}  // namespace

template <typename Sample>
void correlate_all(CUstream_st* stream, const FrameList<Sample>& frames, int width, int height,
                   Sum<Sample>* products) {
  constexpr std::size_t kSamples = kWords<Sample> * 4 / sizeof(Sample);
  const std::size_t pieces = divide_up(static_cast<std::size_t>(width), kSamples) * static_cast<std::size_t>(height);
  launch("correlate", correlate_kernel<Sample>,
         {dim3(static_cast<unsigned>(std::min<std::size_t>(pieces, 4096))), dim3(kThreads)}, stream, frames, width,
         height, products);
}

template void correlate_all(CUstream_st*, const FrameList<std::uint8_t>&, int, int, std::int64_t*);
template void correlate_all(CUstream_st*, const FrameList<float>&, int, int, double*);

}  // namespace c63::cuda::kernels
