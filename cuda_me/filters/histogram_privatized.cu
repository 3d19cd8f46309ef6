// Histogram, variant `privatized`: each thread block counts in shared memory, then adds its counts to the global ones.
// The block has 32 sets of counters. Lane k of every warp uses set k, whose counters are all in bank k. So the lanes of
// a warp never wait for each other, whatever the bytes are.
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 32;
constexpr int kVectors = 4;  // 16-byte vectors that a thread loads ahead

/// Counts four bytes. `counts` points to a lane's counter for byte value 0. The counter for value v is v * kLanes
/// further on.
__device__ void count_word(unsigned* counts, unsigned word) {
  atomicAdd(counts + (word & 255U) * kLanes, 1U);
  atomicAdd(counts + (word >> 8 & 255U) * kLanes, 1U);
  atomicAdd(counts + (word >> 16 & 255U) * kLanes, 1U);
  atomicAdd(counts + (word >> 24) * kLanes, 1U);
}

/// Reads vectors of 16 bytes. The `head` bytes before the first address that is a multiple of 16 are counted one by
/// one, and so are the bytes after the last vector.
__global__ void __launch_bounds__(kThreads) histogram_privatized_kernel(const std::uint8_t* __restrict__ bytes,
                                                                 std::size_t head, std::size_t count,
                                                                 std::uint64_t* counts) {
  __shared__ unsigned lanes[256 * kLanes];
  for (int i = static_cast<int>(threadIdx.x); i < 256 * kLanes; i += kThreads) lanes[i] = 0;
  __syncthreads();
  unsigned* mine = lanes + threadIdx.x % kLanes;
  const auto* vectors = reinterpret_cast<const uint4*>(bytes + head);
  const std::size_t vector_count = (count - head) / 16;
  std::size_t i = global_thread();
  for (; i + (kVectors - 1) * global_threads() < vector_count; i += kVectors * global_threads()) {
    uint4 v[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) v[k] = __ldcs(vectors + i + static_cast<std::size_t>(k) * global_threads());
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      count_word(mine, v[k].x);
      count_word(mine, v[k].y);
      count_word(mine, v[k].z);
      count_word(mine, v[k].w);
    }
  }
  for (; i < vector_count; i += global_threads()) {
    const uint4 v = vectors[i];
    count_word(mine, v.x);
    count_word(mine, v.y);
    count_word(mine, v.z);
    count_word(mine, v.w);
  }
  const std::size_t tail = head + vector_count * 16;
  for (std::size_t k = global_thread(); k < head; k += global_threads()) atomicAdd(mine + bytes[k] * kLanes, 1U);
  for (std::size_t k = tail + global_thread(); k < count; k += global_threads()) atomicAdd(mine + bytes[k] * kLanes, 1U);
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin < 256; bin += kThreads) {
    unsigned total = 0;
    // Each thread starts at another k, so the threads of a warp read from different banks.
    for (int k = 0; k < kLanes; ++k) total += lanes[bin * kLanes + (bin + k) % kLanes];
    if (total != 0) atomic_add(counts + bin, total);
  }
}

}  // namespace

void histogram_privatized(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts) {
  // A thread block's counters have 32 bits, so a launch counts fewer than 2^32 bytes.
  constexpr std::size_t kPiece = std::size_t{1} << 31;
  for (std::size_t start = 0; start < bytes.size(); start += kPiece) {
    const auto piece = bytes.subspan(start, std::min(kPiece, bytes.size() - start));
    const std::size_t to_line = (16 - reinterpret_cast<std::uintptr_t>(piece.data()) % 16) % 16;
    launch("histogram_privatized", histogram_privatized_kernel,
           {grid_for(queue, piece.size(), kThreads * 16 * kVectors, 6), dim3(kThreads)}, queue.stream(), piece.data(),
           std::min(to_line, piece.size()), piece.size(), counts);
  }
}

}  // namespace c63::cuda::kernels
