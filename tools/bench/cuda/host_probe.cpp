#include "bench/cuda/host_probe.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/figures.h"
#include "cuda_me/runtime/memory.h"

namespace c63::bench {

double measure_reading(FrameSource& source, ThreadArena& arena) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kStaging = std::size_t{48} << 20;  // as an encode has it
  constexpr std::size_t kBytes = std::size_t{1} << 30;     // a round
  constexpr int kRounds = 5;                               // of which the first does not count
  const std::size_t bytes = frame_bytes(source.format().width, source.format().height);
  const auto places = static_cast<std::int64_t>(std::max<std::size_t>(1, kStaging / bytes));
  const auto frames = std::min<std::int64_t>(*source.frame_count(), static_cast<std::int64_t>(kBytes / bytes + 1));
  cuda::PinnedBuffer<std::uint8_t> staging(static_cast<std::size_t>(places) * bytes);
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    arena.execute([&] {
      // As many at once as have a place each.
      for (std::int64_t first = 0; first < frames; first += places) {
        oneapi::tbb::parallel_for(first, std::min(first + places, frames), [&](std::int64_t index) {
          std::uint8_t* const place = staging.data() + static_cast<std::size_t>(index - first) * bytes;
          static_cast<void>(source.read(index, {place, bytes}));
        });
      }
    });
    const std::chrono::duration<double> time = Clock::now() - start;
    if (round > 0) rates.push_back(static_cast<double>(frames) * static_cast<double>(bytes) / time.count());
  }
  return summarize(rates).median;
}

}  // namespace c63::bench
