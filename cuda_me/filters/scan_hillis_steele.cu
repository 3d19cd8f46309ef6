// Prefix scan by Hillis and Steele, by one thread block: in step d, every value adds the value that is 2^d places
// before it. For n values, this takes only log n steps, but n·log n − (n−1) additions. Longer inputs are scanned tile
// by tile, and the sum of all earlier tiles is added to each tile.
#include "cuda_me/filters/scan_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kTile = 1024;

template <typename T>
__global__ void __launch_bounds__(kTile) hillis_steele(const T* values, std::size_t count, T* out, bool inclusive) {
  using A = Adder<T>;
  __shared__ A tile[2][kTile];
  const int t = static_cast<int>(threadIdx.x);
  A before{};
  for (std::size_t first = 0; first < count; first += kTile) {
    const std::size_t i = first + static_cast<std::size_t>(t);
    const A own = i < count ? static_cast<A>(values[i]) : A{};
    int from = 0;
    tile[0][t] = own;
    __syncthreads();
    for (int distance = 1; distance < kTile; distance *= 2) {
      tile[1 - from][t] = t >= distance ? tile[from][t] + tile[from][t - distance] : tile[from][t];
      from = 1 - from;
      __syncthreads();
    }
    const A previous = t == 0 ? A{} : tile[from][t - 1];
    if (i < count) out[i] = static_cast<T>(before + (inclusive ? tile[from][t] : previous));
    before += tile[from][kTile - 1];
    __syncthreads();
  }
}

}  // namespace

template <typename T>
void scan_hillis_steele(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive) {
  launch("hillis_steele", hillis_steele<T>, {dim3(1), dim3(kTile)}, queue.stream(), values.data(), values.size(), out,
         inclusive);
}

#define C63_INSTANTIATE(T) template void scan_hillis_steele<T>(FilterQueue&, std::span<const T>, T*, bool);
C63_FOR_SCANS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
