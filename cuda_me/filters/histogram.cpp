// Histogram on a GPU: checks arguments and chooses the kernel.
#include <algorithm>

#include "c63/cuda/filters.h"
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_kernels.h"
#include "cuda_me/runtime/memory.h"

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
  if (!bytes.empty()) {
    switch (variant) {
      case HistogramVariant::sections: kernels::histogram_sections(queue, bytes, values); break;
      case HistogramVariant::interleaved: kernels::histogram_interleaved(queue, bytes, values); break;
      default: kernels::histogram_privatized(queue, bytes, values); break;
    }
  }
  kernels::map_counts(queue, values, map, counts.data(), false);
}

}  // namespace c63::cuda
