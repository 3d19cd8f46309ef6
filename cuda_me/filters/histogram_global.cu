// Histogram, variants `sections` and `interleaved`: all threads count in global memory. In `sections`, each thread
// takes one section of the bytes, so a warp reads addresses that are far apart. In `interleaved`, neighbouring threads
// read neighbouring bytes.
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

__global__ void histogram_sections_kernel(const std::uint8_t* bytes, std::size_t count, std::uint64_t* counts) {
  const std::size_t section = (count + global_threads() - 1) / global_threads();
  const std::size_t first = global_thread() * section;
  for (std::size_t i = first; i < first + section && i < count; ++i) atomic_add(counts + bytes[i], 1);
}

__global__ void histogram_interleaved_kernel(const std::uint8_t* bytes, std::size_t count, std::uint64_t* counts) {
  for (std::size_t i = global_thread(); i < count; i += global_threads()) atomic_add(counts + bytes[i], 1);
}

}  // namespace

void histogram_sections(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts) {
  launch("histogram_sections", histogram_sections_kernel, {grid_for(queue, bytes.size(), 256, 8), dim3(256)}, queue.stream(),
         bytes.data(), bytes.size(), counts);
}

void histogram_interleaved(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts) {
  launch("histogram_interleaved", histogram_interleaved_kernel, {grid_for(queue, bytes.size(), 256, 8), dim3(256)},
         queue.stream(), bytes.data(), bytes.size(), counts);
}

}  // namespace c63::cuda::kernels
