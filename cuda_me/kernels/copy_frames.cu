#include "cuda_me/kernels/frame_kernels.h"

#include <algorithm>
#include <array>

#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kBlocks = 16;  ///< thread blocks per copy
constexpr std::size_t kMostCopies = 128;

/// The copies of one launch. Passed to the kernel as a parameter.
struct CopyGroup {
  std::array<DeviceCopy, kMostCopies> copies;
};

template <typename Word>
__device__ __forceinline__ void copy_words(const DeviceCopy& copy) {
  constexpr int kAtOnce = 4;  // words that a thread loads at a time
  const auto* const from = reinterpret_cast<const Word*>(copy.from);
  auto* const to = reinterpret_cast<Word*>(copy.to);
  const std::size_t words = copy.bytes / sizeof(Word);
  const std::size_t step = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += kAtOnce * step) {
    Word held[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (i + k * step < words) held[k] = from[i + k * step];
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (i + k * step < words) to[i + k * step] = held[k];
    }
  }
}

__global__ void __launch_bounds__(kThreads) copy_frames_kernel(const __grid_constant__ CopyGroup group) {
  const DeviceCopy& copy = group.copies[blockIdx.y];
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(copy.from) | reinterpret_cast<std::uintptr_t>(copy.to) | copy.bytes;
  if (all % sizeof(uint4) == 0) {
    copy_words<uint4>(copy);
  } else {
    copy_words<std::uint8_t>(copy);
  }
}

__global__ void __launch_bounds__(kThreads) split_chroma_kernel(const std::uint8_t* pairs, std::ptrdiff_t pitch, int width,
                                                                std::uint8_t* u, std::uint8_t* v) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (x >= width) return;
  const std::size_t y = blockIdx.y;
  const uchar2 pair = reinterpret_cast<const uchar2*>(pairs + static_cast<std::ptrdiff_t>(y) * pitch)[x];
  const std::size_t at = y * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  u[at] = pair.x;
  v[at] = pair.y;
}

}  // namespace

void enqueue_copies(std::span<const DeviceCopy> copies, cudaStream_t stream) {
  const Range range("copy frames");
  while (!copies.empty()) {
    CopyGroup group;
    const std::size_t count = std::min(copies.size(), kMostCopies);
    std::copy_n(copies.begin(), count, group.copies.begin());
    launch(copy_frames_kernel, {{kBlocks, count}, kThreads}, stream, group);
    copies = copies.subspan(count);
  }
}

void split_chroma(const std::uint8_t* pairs, std::ptrdiff_t pitch, int width, int height, std::uint8_t* u, std::uint8_t* v,
                  cudaStream_t stream) {
  launch(split_chroma_kernel, {{divide_up(width, kThreads), height}, kThreads}, stream, pairs, pitch, width, u, v);
}

}  // namespace c63::cuda
