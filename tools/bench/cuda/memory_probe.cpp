#include "bench/cuda/memory_probe.h"

#include <algorithm>
#include <cstddef>

#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {

double measure_memory_ceiling(cudaStream_t stream) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const cuda::DeviceBuffer<std::byte> from(kBytes);
  const cuda::DeviceBuffer<std::byte> to(kBytes);
  cuda::fill_async(from.data(), 1, kBytes, stream);
  const cuda::Event start(cuda::Event::Timing::on);
  const cuda::Event stop(cuda::Event::Timing::on);
  double best = 0;
  for (int run = 0; run < 12; ++run) {
    start.record(stream);
    cuda::copy_async(to.data(), from.data(), kBytes, stream);
    stop.record(stream);
    stop.synchronize();
    best = std::max(best, 2.0 * kBytes / (stop.milliseconds_since(start) * 1e-3));
  }
  return best;
}

}  // namespace c63::bench
