// Prefix scan by CUB, in one pass. To get the sum of all earlier tiles, a tile looks back at their published sums.
#include <cub/device/device_scan.cuh>

#include "cuda_me/filters/scan_common.cuh"

namespace c63::cuda::kernels {

template <typename T>
void scan_cub(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive) {
  const auto* in = reinterpret_cast<const Adder<T>*>(values.data());
  auto* to = reinterpret_cast<Adder<T>*>(out);
  const auto count = static_cast<std::int64_t>(values.size());
  std::size_t bytes = 0;
  const auto run = [&](void* temporary) {
    check(inclusive ? cub::DeviceScan::InclusiveSum(temporary, bytes, in, to, count, queue.stream())
                    : cub::DeviceScan::ExclusiveSum(temporary, bytes, in, to, count, queue.stream()),
          "cub::DeviceScan");
  };
  run(nullptr);
  run(queue.scratch(bytes));
}

#define C63_INSTANTIATE(T) template void scan_cub<T>(FilterQueue&, std::span<const T>, T*, bool);
C63_FOR_SCANS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
