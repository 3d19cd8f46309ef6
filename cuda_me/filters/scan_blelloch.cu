// Prefix scan by Blelloch, by one thread block: sums go up a tree, prefixes come down, with at most 2(n−1) additions
// for n values. One variant pads shared memory to avoid bank conflicts, the other does not. Longer inputs are scanned
// tile by tile.
#include "cuda_me/filters/scan_common.cuh"

namespace c63::cuda::kernels {
namespace {

template <bool padded, typename T>
__global__ void __launch_bounds__(kScanThreads) blelloch(const T* values, std::size_t count, T* out, bool inclusive) {
  Adder<T> before{};
  for (std::size_t first = 0; first < count; first += kScanTile) {
    before += scan_values<padded>(values, count, out, first, before, inclusive);
  }
}

}  // namespace

template <typename T>
void scan_blelloch(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive, bool padded) {
  launch("blelloch", padded ? blelloch<true, T> : blelloch<false, T>, {dim3(1), dim3(kScanThreads)}, queue.stream(),
         values.data(), values.size(), out, inclusive);
}

#define C63_INSTANTIATE(T) template void scan_blelloch<T>(FilterQueue&, std::span<const T>, T*, bool, bool);
C63_FOR_SCANS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
