#pragma once

#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {

// Integers are added as unsigned ones, because sums may overflow, which is undefined for signed integers.
template <typename T>
using Adder = std::conditional_t<std::is_floating_point_v<T>, T, std::uint32_t>;

constexpr int kScanThreads = 512;
constexpr int kScanTile = 2 * kScanThreads;  // values of a tile in Blelloch's scan: two per thread

/// The index in shared memory of value i of a tile. With padding, an unused element follows every 32 values. Without
/// padding, values whose distance is a multiple of 32 are in the same bank. Most steps of the tree access such values.
template <bool padded>
[[nodiscard]] __device__ constexpr int place_of(int i) {
  return padded ? i + i / 32 : i;
}
template <bool padded>
constexpr int kScanPlaces = padded ? kScanTile + kScanTile / 32 : kScanTile;

/// Blelloch's exclusive scan of a tile in shared memory: sums go up a tree, prefixes come down. All threads get the
/// tile's sum.
template <bool padded, typename A>
__device__ A scan_tile(A* tile) {
  __shared__ A total;
  const int t = static_cast<int>(threadIdx.x);
  int distance = 1;
  for (int pairs = kScanThreads; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (t < pairs) {
      const int left = place_of<padded>(distance * (2 * t + 1) - 1);
      const int right = place_of<padded>(distance * (2 * t + 2) - 1);
      tile[right] += tile[left];
    }
    distance *= 2;
  }
  __syncthreads();
  if (t == 0) {
    total = tile[place_of<padded>(kScanTile - 1)];
    tile[place_of<padded>(kScanTile - 1)] = A{};
  }
  for (int pairs = 1; pairs <= kScanThreads; pairs *= 2) {
    distance /= 2;
    __syncthreads();
    if (t < pairs) {
      const int left = place_of<padded>(distance * (2 * t + 1) - 1);
      const int right = place_of<padded>(distance * (2 * t + 2) - 1);
      const A moved = tile[left];
      tile[left] = tile[right];
      tile[right] += moved;
    }
  }
  __syncthreads();
  return total;
}

/// Scans the tile of `values` that starts at `first`, adds `before` to each prefix and stores the result. Returns the
/// tile's sum.
template <bool padded, typename T>
__device__ Adder<T> scan_values(const T* values, std::size_t count, T* out, std::size_t first, Adder<T> before,
                                bool inclusive) {
  __shared__ Adder<T> tile[kScanPlaces<padded>];
  Adder<T> own[2];
  for (int half = 0; half < 2; ++half) {
    const int at = static_cast<int>(threadIdx.x) + half * kScanThreads;
    const std::size_t i = first + static_cast<std::size_t>(at);
    own[half] = i < count ? static_cast<Adder<T>>(values[i]) : Adder<T>{};
    tile[place_of<padded>(at)] = own[half];
  }
  const Adder<T> total = scan_tile<padded>(tile);
  for (int half = 0; half < 2; ++half) {
    const int at = static_cast<int>(threadIdx.x) + half * kScanThreads;
    const std::size_t i = first + static_cast<std::size_t>(at);
    const Adder<T> prefix = before + tile[place_of<padded>(at)];
    if (i < count) out[i] = static_cast<T>(inclusive ? prefix + own[half] : prefix);
  }
  __syncthreads();
  return total;
}

#define C63_FOR_SCANS(MACRO) MACRO(std::int32_t) MACRO(std::uint32_t) MACRO(double)

}  // namespace c63::cuda::kernels
