// Histogram on a GPU: checks, and which kernel.
#include "c63/cuda/filters.h"
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_kernels.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {

void histogram(FilterQueue& queue, std::span<const std::uint8_t> bytes, const BinMap& map,
               std::span<std::uint64_t> counts, HistogramVariant variant) {
  check_bin_map(map, counts.size());
  constexpr std::size_t kValueBytes = 256 * sizeof(std::uint64_t);
  std::size_t cub_bytes = 0;
  if (variant == HistogramVariant::cub && !bytes.empty()) {
    cub_bytes = kernels::histogram_cub(queue, bytes, nullptr, nullptr, 0);
  }
  auto* values = static_cast<std::uint64_t*>(queue.scratch(kValueBytes + cub_bytes));
  fill_async(values, 0, kValueBytes, queue.stream());
  if (!bytes.empty()) {
    switch (variant) {
      case HistogramVariant::sections: kernels::histogram_sections(queue, bytes, values); break;
      case HistogramVariant::interleaved: kernels::histogram_interleaved(queue, bytes, values); break;
      case HistogramVariant::cub:
        static_cast<void>(kernels::histogram_cub(queue, bytes, values, values + 256, cub_bytes));
        break;
      default: kernels::histogram_privatized(queue, bytes, values); break;
    }
  }
  kernels::map_counts(queue, values, map, counts.data());
}

}  // namespace c63::cuda
