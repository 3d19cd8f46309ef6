// Prefix scan by many thread blocks: each scans a tile and stores its sum. One thread block scans these sums. Then all
// thread blocks add the sum of the earlier tiles.
#include "cuda_me/filters/scan_common.cuh"

namespace c63::cuda::kernels {
namespace {

template <typename T>
__global__ void __launch_bounds__(kScanThreads) scan_tiles(const T* values, std::size_t count, T* out, Adder<T>* sums,
                                                           bool inclusive) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kScanTile;
  const Adder<T> total = scan_values<true>(values, count, out, first, Adder<T>{}, inclusive);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

template <typename A>
__global__ void __launch_bounds__(kScanThreads) scan_sums(A* sums, std::size_t count) {
  A before{};
  for (std::size_t first = 0; first < count; first += kScanTile) {
    before += scan_values<true>(sums, count, sums, first, before, false);
  }
}

template <typename T>
__global__ void __launch_bounds__(kScanThreads) add_before(T* out, std::size_t count, const Adder<T>* before) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kScanTile;
  const Adder<T> mine = before[blockIdx.x];
  for (int half = 0; half < 2; ++half) {
    const std::size_t i = first + threadIdx.x + static_cast<std::size_t>(half * kScanThreads);
    if (i < count) out[i] = static_cast<T>(static_cast<Adder<T>>(out[i]) + mine);
  }
}

}  // namespace

template <typename T>
void scan_many_blocks(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive) {
  const std::size_t tiles = divide_up(values.size(), kScanTile);
  auto* sums = static_cast<Adder<T>*>(queue.scratch(tiles * sizeof(Adder<T>)));
  const LaunchShape shape{dim3(static_cast<unsigned>(tiles)), dim3(kScanThreads)};
  launch("scan_tiles", scan_tiles<T>, shape, queue.stream(), values.data(), values.size(), out, sums, inclusive);
  if (tiles == 1) return;
  launch("scan_sums", scan_sums<Adder<T>>, {dim3(1), dim3(kScanThreads)}, queue.stream(), sums, tiles);
  launch("add_before", add_before<T>, shape, queue.stream(), out, values.size(), sums);
}

#define C63_INSTANTIATE(T) template void scan_many_blocks<T>(FilterQueue&, std::span<const T>, T*, bool);
C63_FOR_SCANS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
