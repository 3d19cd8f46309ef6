// Histogram on a GPU, in all variants.
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

/// The last step of all variants: converts counts of byte values to counts of bins. Adds to the bins' counts if `add` is
/// true; otherwise sets them.
template <typename Count>
__global__ void map_counts_kernel(const Count* values, const __grid_constant__ BinMap map, std::uint64_t* counts,
                                  bool add) {
  const unsigned bin = threadIdx.x;
  if (bin >= static_cast<unsigned>(map.bins)) return;
  std::uint64_t total = 0;
  for (int v = 0; v < 256; ++v) total += map.bin[static_cast<std::size_t>(v)] == bin ? values[v] : 0;
  counts[bin] = (add ? counts[bin] : 0) + total;
}

template <typename Count>
void map_counts(FilterQueue& queue, const Count* values, const BinMap& map, std::uint64_t* counts, bool add) {
  launch(map_counts_kernel<Count>, {1, 256}, queue.stream(), values, map, counts, add);
}

// Histogram, variants `sections` and `interleaved`: all threads count in global memory. In `sections`, each thread
// takes one section of the bytes, so a warp reads addresses that are far apart. In `interleaved`, neighbouring threads
// read neighbouring bytes.

__global__ void histogram_sections_kernel(const std::uint8_t* bytes, std::size_t count, std::uint64_t* counts) {
  const std::size_t section = (count + global_threads() - 1) / global_threads();
  const std::size_t first = global_thread() * section;
  for (std::size_t i = first; i < first + section && i < count; ++i) atomic_add(counts + bytes[i], 1);
}

__global__ void histogram_interleaved_kernel(const std::uint8_t* bytes, std::size_t count, std::uint64_t* counts) {
  for (std::size_t i = global_thread(); i < count; i += global_threads()) atomic_add(counts + bytes[i], 1);
}

// Histogram, variant `privatized`: each thread block counts in shared memory, then adds its counts to the global ones.
// The block has 32 sets of counters. Lane k of every warp uses set k, whose counters are all in bank k. So the lanes of
// a warp never wait for each other, whatever the bytes are.

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

__device__ void count_vector(unsigned* counts, const uint4& v) {
  count_word(counts, v.x);
  count_word(counts, v.y);
  count_word(counts, v.z);
  count_word(counts, v.w);
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
    for (int k = 0; k < kVectors; ++k) count_vector(mine, v[k]);
  }
  for (; i < vector_count; i += global_threads()) count_vector(mine, vectors[i]);
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

void histogram_privatized(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts) {
  // A thread block's counters have 32 bits, so a launch counts fewer than 2^32 bytes.
  constexpr std::size_t kPiece = std::size_t{1} << 31;
  for (std::size_t start = 0; start < bytes.size(); start += kPiece) {
    const auto piece = bytes.subspan(start, std::min(kPiece, bytes.size() - start));
    const std::size_t to_line = (16 - reinterpret_cast<std::uintptr_t>(piece.data()) % 16) % 16;
    launch(histogram_privatized_kernel, {grid_for(queue, piece.size(), kThreads * 16 * kVectors, 6), kThreads},
           queue.stream(), piece.data(), std::min(to_line, piece.size()), piece.size(), counts);
  }
}

}  // namespace
}  // namespace c63::cuda::kernels

namespace c63::cuda {
namespace {

/// Counts the bytes piece by piece, because CUB's counters have only 32 bits. The counts of all pieces are added in 64
/// bits.
void histogram_by_cub(FilterQueue& queue, std::span<const std::uint8_t> bytes, const BinMap& map,
                      std::uint64_t* counts) {
  constexpr std::size_t kValueBytes = 256 * sizeof(std::uint32_t);
  const auto piece_at = [&](std::size_t at) {
    return bytes.subspan(at, std::min(kernels::kCubHistogramBytes, bytes.size() - at));
  };
  const std::size_t cub_bytes = kernels::histogram_cub(queue, piece_at(0), nullptr, nullptr, 0);
  auto* values = static_cast<std::uint32_t*>(queue.scratch(kValueBytes + cub_bytes));
  for (std::size_t at = 0; at < bytes.size(); at += kernels::kCubHistogramBytes) {
    static_cast<void>(kernels::histogram_cub(queue, piece_at(at), values, values + 256, cub_bytes));
    kernels::map_counts(queue, values, map, counts, at > 0);
  }
}

}  // namespace

void histogram(FilterQueue& queue, std::span<const std::uint8_t> bytes, const BinMap& map,
               std::span<std::uint64_t> counts, HistogramVariant variant) {
  check_bin_map(map, counts.size());
  if (variant == HistogramVariant::cub && !bytes.empty()) {
    histogram_by_cub(queue, bytes, map, counts.data());
    return;
  }
  constexpr std::size_t kValueBytes = 256 * sizeof(std::uint64_t);
  auto* values = static_cast<std::uint64_t*>(queue.scratch(kValueBytes));
  fill_async(values, 0, kValueBytes, queue.stream());
  const auto count = [&](auto kernel) {
    launch(kernel, {kernels::grid_for(queue, bytes.size(), 256, 8), 256}, queue.stream(), bytes.data(), bytes.size(),
           values);
  };
  if (!bytes.empty()) {
    switch (variant) {
      case HistogramVariant::sections: count(kernels::histogram_sections_kernel); break;
      case HistogramVariant::interleaved: count(kernels::histogram_interleaved_kernel); break;
      default: kernels::histogram_privatized(queue, bytes, values); break;
    }
  }
  kernels::map_counts(queue, values, map, counts.data(), false);
}

}  // namespace c63::cuda
