#include "bench/cuda/host_probe.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include "bench/figures.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kStaging = std::size_t{48} << 20;    ///< bytes for each GPU, as in an encode
constexpr std::size_t kRoundBytes = std::size_t{1} << 30;  ///< bytes for each GPU in a round
constexpr int kReadings = 5;                               ///< the first one is not counted

/// Sizes for reading a source through page-locked memory: bytes of a frame, number of frames that fit into that memory,
/// number of frames to read in one measurement.
struct Way {
  explicit Way(const FrameSource& source)
      : bytes(frame_bytes(source.format().width, source.format().height)),
        places(static_cast<std::int64_t>(std::max<std::size_t>(2, kStaging / bytes))),
        frames(std::min<std::int64_t>(*source.frame_count(), static_cast<std::int64_t>(kRoundBytes / bytes + 1))) {}

  std::size_t bytes;
  std::int64_t places;
  std::int64_t frames;
};

/// Reads frames `first` to `end` - 1 in parallel, into memory that begins at `to`.
void read_frames(FrameSource& source, ThreadArena& arena, const Way& way, std::int64_t first, std::int64_t end, std::uint8_t* to) {
  arena.execute([&] {
    oneapi::tbb::parallel_for(first, end, [&](std::int64_t index) {
      static_cast<void>(source.read(index, {to + static_cast<std::size_t>(index - first) * way.bytes, way.bytes}));
    });
  });
}

/// Returns the median of bytes / time over several rounds. `bytes` is the size of a round.
template <typename Round>
double rate(double bytes, const Round& round) {
  std::vector<double> rates;
  for (int i = 0; i < kReadings; ++i) {
    const auto start = Clock::now();
    round();
    const std::chrono::duration<double> time = Clock::now() - start;
    if (i > 0) rates.push_back(bytes / time.count());
  }
  return summarize(rates).median;
}

/// Feeds one GPU: frames are read into one half of a buffer while the other half is uploaded. That GPU must be the
/// current device when a Feeder is created.
class Feeder {
 public:
  explicit Feeder(const Way& way)
      : way_(way),
        half_(way.places / 2),
        target_(static_cast<std::size_t>(half_) * way.bytes) {
    for (Half& half : halves_) half.memory = cuda::PinnedBuffer<std::uint8_t>(target_.size());
  }

  void feed(FrameSource& source, ThreadArena& arena) {
    for (std::int64_t first = 0, turn = 0; first < way_.frames; first += half_, ++turn) {
      Half& half = halves_[static_cast<std::size_t>(turn % 2)];
      const std::int64_t end = std::min(first + half_, way_.frames);
      half.uploaded.synchronize();
      read_frames(source, arena, way_, first, end, half.memory.data());
      cuda::copy_async(target_.data(), half.memory.data(), static_cast<std::size_t>(end - first) * way_.bytes, stream_);
      half.uploaded.record(stream_);
    }
    stream_.synchronize();
  }

 private:
  struct Half {
    cuda::PinnedBuffer<std::uint8_t> memory;
    cuda::Event uploaded;
  };

  Way way_;
  std::int64_t half_;
  cuda::DeviceBuffer<std::uint8_t> target_;
  cuda::Stream stream_;
  std::array<Half, 2> halves_;
};

}  // namespace

double measure_reading(FrameSource& source, ThreadArena& arena) {
  const Way way(source);
  const cuda::PinnedBuffer<std::uint8_t> staging(static_cast<std::size_t>(way.places) * way.bytes);
  return rate(static_cast<double>(way.frames) * static_cast<double>(way.bytes), [&] {
    for (std::int64_t first = 0; first < way.frames; first += way.places) {
      read_frames(source, arena, way, first, std::min(first + way.places, way.frames), staging.data());
    }
  });
}

double measure_feeding(FrameSource& source, ThreadArena& arena, std::span<const int> devices) {
  const Way way(source);
  std::vector<std::unique_ptr<Feeder>> feeders;
  for (const int device : devices) {
    const cuda::DeviceGuard guard(device);
    feeders.push_back(std::make_unique<Feeder>(way));
  }
  const double bytes = static_cast<double>(way.frames) * static_cast<double>(way.bytes) * static_cast<double>(devices.size());
  return rate(bytes, [&] {
    std::vector<std::future<void>> at_work;
    for (std::size_t i = 0; i < feeders.size(); ++i) {
      at_work.push_back(std::async(std::launch::async, [&, i] {
        const cuda::DeviceGuard guard(devices[i]);
        feeders[i]->feed(source, arena);
      }));
    }
    for (std::future<void>& one : at_work) one.get();
  });
}

}  // namespace c63::bench
