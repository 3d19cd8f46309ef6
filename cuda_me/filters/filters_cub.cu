// The variants `cub`: histogram, reduction and prefix scan by CUB, NVIDIA's library of such functions. They are in one
// file, because CUB's headers take most of its compile time.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <string>

#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {

std::size_t histogram_cub(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint32_t* counts,
                          void* temporary, std::size_t temporary_bytes) {
  check(cub::DeviceHistogram::HistogramEven(temporary, temporary_bytes, bytes.data(),
                                            counts, 257, 0, 256, static_cast<int>(bytes.size()), queue.stream()),
        "cub::DeviceHistogram::HistogramEven");
  return temporary_bytes;
}

template <Reduction kind, typename T, typename Result>
static void run(FilterQueue& queue, void* temporary, std::size_t& bytes, std::span<const T> values, Result* result,
         T* best) {
  const auto count = static_cast<std::int64_t>(values.size());
  if constexpr (kind == Reduction::sum) {
    check(cub::DeviceReduce::Reduce(temporary, bytes, values.data(), result, count, ::cuda::std::plus<>{}, Result{},
                                    queue.stream()),
          "cub::DeviceReduce::Reduce");
  } else if constexpr (kind == Reduction::minimum) {
    check(cub::DeviceReduce::Min(temporary, bytes, values.data(), result, count, queue.stream()),
          "cub::DeviceReduce::Min");
  } else if constexpr (kind == Reduction::maximum) {
    check(cub::DeviceReduce::Max(temporary, bytes, values.data(), result, count, queue.stream()),
          "cub::DeviceReduce::Max");
  } else if constexpr (kind == Reduction::argmin) {
    check(cub::DeviceReduce::ArgMin(temporary, bytes, values.data(), best, reinterpret_cast<std::int64_t*>(result), count,
                                    queue.stream()),
          "cub::DeviceReduce::ArgMin");
  } else {
    check(cub::DeviceReduce::ArgMax(temporary, bytes, values.data(), best, reinterpret_cast<std::int64_t*>(result), count,
                                    queue.stream()),
          "cub::DeviceReduce::ArgMax");
  }
}

template <Reduction kind, typename T, typename Result>
void reduce_cub(FilterQueue& queue, std::span<const T> values, Result* result) {
  std::size_t bytes = 0;
  run<kind>(queue, nullptr, bytes, values, result, static_cast<T*>(nullptr));
  constexpr std::size_t kHead = 256;  // room for the minimum or maximum itself, which CUB also stores and nobody reads
  auto* memory = static_cast<std::uint8_t*>(queue.scratch(kHead + bytes));
  run<kind>(queue, memory + kHead, bytes, values, result, reinterpret_cast<T*>(memory));
}

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

#define C63_INSTANTIATE(T)                                                                                 \
  template void reduce_cub<Reduction::sum>(FilterQueue&, std::span<const T>, SumOf<T>*);                   \
  template void reduce_cub<Reduction::minimum>(FilterQueue&, std::span<const T>, T*);                      \
  template void reduce_cub<Reduction::maximum>(FilterQueue&, std::span<const T>, T*);                      \
  template void reduce_cub<Reduction::argmin>(FilterQueue&, std::span<const T>, std::uint64_t*);           \
  template void reduce_cub<Reduction::argmax>(FilterQueue&, std::span<const T>, std::uint64_t*);
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(std::int32_t)
C63_INSTANTIATE(float)
C63_INSTANTIATE(double)
#undef C63_INSTANTIATE
template void scan_cub(FilterQueue&, std::span<const std::int32_t>, std::int32_t*, bool);
template void scan_cub(FilterQueue&, std::span<const std::uint32_t>, std::uint32_t*, bool);
template void scan_cub(FilterQueue&, std::span<const double>, double*, bool);

}  // namespace c63::cuda::kernels

namespace c63::cuda {

std::string_view cub_version() {
  static const std::string version = std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
                                     std::to_string(CUB_SUBMINOR_VERSION);
  return version;
}

}  // namespace c63::cuda
