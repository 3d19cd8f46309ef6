// Computes the sum of squared differences of two arrays of bytes: a reduction in one launch, with four differences per
// instruction.
#include "cuda_me/filters/reduction_grid.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 512;

using Op = ReductionOp<Reduction::sum, std::uint8_t>;

/// `a` and `b` are read in vectors of 16 bytes. `head` bytes come before the first address that is a multiple of 16 in
/// both arrays. If there is no such address, `head` is `count`.
__global__ void __launch_bounds__(kThreads)
    reduction_errors(const std::uint8_t* __restrict__ a, const std::uint8_t* __restrict__ b, std::size_t head,
                     std::size_t count, std::uint64_t* partials, unsigned* finished, std::uint64_t* result) {
  const auto* a16 = reinterpret_cast<const uint4*>(a + head);
  const auto* b16 = reinterpret_cast<const uint4*>(b + head);
  const std::size_t vectors = (count - head) / sizeof(uint4);
  const std::size_t stride = global_threads();
  std::uint64_t sum = 0;
#pragma unroll 4
  for (std::size_t i = global_thread(); i < vectors; i += stride) {
    const uint4 x = __ldg(a16 + i);
    const uint4 y = __ldg(b16 + i);
    sum += add_squared_differences(
        x.x, y.x,
        add_squared_differences(x.y, y.y, add_squared_differences(x.z, y.z, add_squared_differences(x.w, y.w, 0U))));
  }
  const auto add_byte = [&](std::size_t i) {
    const int difference = static_cast<int>(a[i]) - b[i];
    sum += static_cast<std::uint64_t>(difference * difference);
  };
  for (std::size_t i = global_thread(); i < head; i += stride) add_byte(i);
  for (std::size_t i = head + vectors * sizeof(uint4) + global_thread(); i < count; i += stride) add_byte(i);
  reduce_grid<Op, kThreads>(sum, partials, finished, result);
}

}  // namespace

void reduce_errors(FilterQueue& queue, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                   std::uint64_t* result) {
  const auto to_line = [](const std::uint8_t* p) { return (16 - reinterpret_cast<std::uintptr_t>(p) % 16) % 16; };
  const std::size_t head = to_line(a.data()) == to_line(b.data()) ? std::min(to_line(a.data()), a.size()) : a.size();
  const dim3 grid = grid_for(queue, a.size(), kThreads * sizeof(uint4), 4);
  auto* partials = static_cast<std::uint64_t*>(queue.scratch(grid.x * sizeof(std::uint64_t)));
  launch("reduction_errors", reduction_errors, {grid, dim3(kThreads)}, queue.stream(), a.data(), b.data(), head,
         a.size(), partials, static_cast<unsigned*>(queue.zeros()), result);
}

}  // namespace c63::cuda::kernels
