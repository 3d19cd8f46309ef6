// Histogram by CUB. Also the last step of all variants: converts counts of byte values to counts of bins.
#include <cub/device/device_histogram.cuh>
#include <cub/version.cuh>
#include <string>

#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

template <typename Count>
__global__ void map_counts_kernel(const Count* values, const __grid_constant__ BinMap map, std::uint64_t* counts,
                                  bool add) {
  const unsigned bin = threadIdx.x;
  if (bin >= static_cast<unsigned>(map.bins)) return;
  std::uint64_t total = 0;
  for (int v = 0; v < 256; ++v) total += map.bin[static_cast<std::size_t>(v)] == bin ? values[v] : 0;
  counts[bin] = (add ? counts[bin] : 0) + total;
}

}  // namespace

std::size_t histogram_cub(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint32_t* counts,
                          void* temporary, std::size_t temporary_bytes) {
  check(cub::DeviceHistogram::HistogramEven(temporary, temporary_bytes, bytes.data(),
                                            counts, 257, 0, 256, static_cast<int>(bytes.size()), queue.stream()),
        "cub::DeviceHistogram::HistogramEven");
  return temporary_bytes;
}

template <typename Count>
void map_counts(FilterQueue& queue, const Count* values, const BinMap& map, std::uint64_t* counts, bool add) {
  launch("map_counts", map_counts_kernel<Count>, {dim3(1), dim3(256)}, queue.stream(), values, map, counts, add);
}

template void map_counts(FilterQueue&, const std::uint32_t*, const BinMap&, std::uint64_t*, bool);
template void map_counts(FilterQueue&, const std::uint64_t*, const BinMap&, std::uint64_t*, bool);

}  // namespace c63::cuda::kernels

namespace c63::cuda {

std::string_view cub_version() {
  static const std::string version = std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
                                     std::to_string(CUB_SUBMINOR_VERSION);
  return version;
}

}  // namespace c63::cuda
