// Histogram by CUB; and the step that all variants end with: counts of values to counts of bins.
#include <cub/device/device_histogram.cuh>

#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

__global__ void map_counts_kernel(const std::uint64_t* values, const __grid_constant__ BinMap map,
                                  std::uint64_t* counts) {
  const unsigned bin = threadIdx.x;
  if (bin >= static_cast<unsigned>(map.bins)) return;
  std::uint64_t total = 0;
  for (int v = 0; v < 256; ++v) total += map.bin[static_cast<std::size_t>(v)] == bin ? values[v] : 0;
  counts[bin] = total;
}

}  // namespace

std::size_t histogram_cub(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts,
                          void* temporary, std::size_t temporary_bytes) {
  check(cub::DeviceHistogram::HistogramEven(temporary, temporary_bytes, bytes.data(),
                                            reinterpret_cast<unsigned long long*>(counts), 257, 0, 256,
                                            static_cast<std::int64_t>(bytes.size()), queue.stream()),
        "cub::DeviceHistogram::HistogramEven");
  return temporary_bytes;
}

void map_counts(FilterQueue& queue, const std::uint64_t* values, const BinMap& map, std::uint64_t* counts) {
  launch("map_counts", map_counts_kernel, {dim3(1), dim3(256)}, queue.stream(), values, map, counts);
}

}  // namespace c63::cuda::kernels
