#include "bench/cuda/probes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <memory>

#include "bench/cuda/kernels.h"
#include "c63/thread_pool.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

constexpr std::size_t kCopied = std::size_t{64} << 20;     ///< bytes of one copy over a bus
constexpr std::size_t kStaging = std::size_t{48} << 20;    ///< bytes for each GPU, as in an encode
constexpr std::size_t kRoundBytes = std::size_t{1} << 30;  ///< bytes for each GPU in a round
constexpr int kRounds = 7;

/// Buffers for copies from the host to one GPU. That GPU must be the current device when a Bus is created.
struct Bus {
  cuda::PinnedBuffer<std::uint8_t> host{kCopied};
  cuda::DeviceBuffer<std::uint8_t> memory{kCopied};
  cuda::Stream stream;
};

/// Returns the bytes per second of copies to all these GPUs at the same time.
double rate(std::span<const std::unique_ptr<Bus>> buses) {
  constexpr int kCopies = 4;
  const auto copy_all = [&] {
    for (int i = 0; i < kCopies; ++i) {
      for (const auto& bus : buses) cuda::copy_async(bus->memory.data(), bus->host.data(), kCopied, bus->stream);
    }
    for (const auto& bus : buses) bus->stream.synchronize();
  };
  return measure(timed(copy_all), kRounds).rate(static_cast<double>(buses.size() * kCopies * kCopied)).median;
}

/// Reads frames of a source into page-locked memory, one half of it after the other. If it uploads, the device that was
/// current when it was made fetches each half while the other one is filled.
class Feeder {
 public:
  Feeder(FrameSource& source, ThreadPool& pool, bool uploads)
      : source_(source),
        pool_(pool),
        bytes_(frame_bytes(source.format().width, source.format().height)),
        half_(static_cast<std::int64_t>(std::max<std::size_t>(1, kStaging / bytes_ / 2))),
        frames_(std::min<std::int64_t>(*source.frame_count(), static_cast<std::int64_t>(kRoundBytes / bytes_ + 1))),
        target_(uploads ? static_cast<std::size_t>(half_) * bytes_ : 0) {
    for (Half& half : halves_) half.memory = cuda::PinnedBuffer<std::uint8_t>(static_cast<std::size_t>(half_) * bytes_);
  }

  [[nodiscard]] double bytes() const { return static_cast<double>(frames_) * static_cast<double>(bytes_); }
  void feed() {
    for (std::int64_t first = 0, turn = 0; first < frames_; first += half_, ++turn) {
      Half& half = halves_[static_cast<std::size_t>(turn % 2)];
      const std::int64_t count = std::min(half_, frames_ - first);
      half.uploaded.synchronize();
      pool_.execute([&] {
        parallel_for(count, [&](std::int64_t i) {
          static_cast<void>(
              source_.read(first + i, {half.memory.data() + static_cast<std::size_t>(i) * bytes_, bytes_}));
        });
      });
      if (target_.size() == 0) continue;
      cuda::copy_async(target_.data(), half.memory.data(), static_cast<std::size_t>(count) * bytes_, stream_);
      half.uploaded.record(stream_);
    }
    stream_.synchronize();
  }

 private:
  struct Half {
    cuda::PinnedBuffer<std::uint8_t> memory;
    cuda::Event uploaded;
  };

  FrameSource& source_;
  ThreadPool& pool_;
  std::size_t bytes_;                        ///< of a frame
  std::int64_t half_;                        ///< number of frames that fit into one half of the memory
  std::int64_t frames_;                      ///< of a round
  cuda::DeviceBuffer<std::uint8_t> target_;  ///< empty without uploads
  cuda::Stream stream_;
  std::array<Half, 2> halves_;
};

}  // namespace

std::function<double()> timed_on(cudaStream_t stream, const std::function<void()>& work, int inner) {
  struct Timer {
    cuda::GraphExec graph;
    cuda::Event start{cuda::Event::Timing::on};
    cuda::Event stop{cuda::Event::Timing::on};
  };
  const auto timer = std::make_shared<Timer>(Timer{.graph = cuda::GraphExec::capture(stream, [&] {
                                                     for (int i = 0; i < inner; ++i) work();
                                                   })});
  return [timer, stream, inner] {
    timer->start.record(stream);
    timer->graph.launch(stream);
    timer->stop.record(stream);
    timer->stop.synchronize();
    return timer->stop.milliseconds_since(timer->start) * 1e-3 / inner;
  };
}

double measure_absdiff4_ceiling(const cuda::Stream& stream) {
  int device = 0;
  int multiprocessors = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  const cuda::DeviceBuffer<std::uint32_t> out(1);
  double count = 0;
  return measure(timed_on(stream, [&] { count = enqueue_absdiff4(stream, out.data(), multiprocessors); }), 5).rate(count).high;
}

double measure_memory_ceiling(const cuda::Stream& stream) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const cuda::DeviceBuffer<std::byte> from(kBytes);
  const cuda::DeviceBuffer<std::byte> to(kBytes);
  cuda::fill_async(from.data(), 1, kBytes, stream);
  return measure(timed_on(stream, [&] { cuda::copy_async(to.data(), from.data(), kBytes, stream); }), 5).rate(2.0 * kBytes).high;
}

BusRates measure_buses(std::span<const int> devices) {
  std::vector<std::unique_ptr<Bus>> buses;
  std::vector<double> alone;
  for (const int device : devices) {
    const cuda::DeviceGuard guard(device);
    buses.push_back(std::make_unique<Bus>());
    alone.push_back(rate({&buses.back(), 1}));
  }
  return {.alone = summarize(alone).median, .together = buses.size() > 1 ? rate(buses) : alone.front()};
}

double measure_reading(FrameSource& source, ThreadPool& pool) {
  Feeder reader(source, pool, false);
  return measure(timed([&] { reader.feed(); }), 4).rate(reader.bytes()).median;
}

double measure_feeding(FrameSource& source, ThreadPool& pool, std::span<const int> devices) {
  std::vector<std::unique_ptr<Feeder>> feeders;
  for (const int device : devices) {
    const cuda::DeviceGuard guard(device);
    feeders.push_back(std::make_unique<Feeder>(source, pool, true));
  }
  const auto feed_all = [&] {
    std::vector<std::future<void>> at_work;
    for (std::size_t i = 0; i < feeders.size(); ++i) {
      at_work.push_back(std::async(std::launch::async, [&, i] {
        const cuda::DeviceGuard guard(devices[i]);
        feeders[i]->feed();
      }));
    }
    for (std::future<void>& one : at_work) one.get();
  };
  return measure(timed(feed_all), 4).rate(feeders.front()->bytes() * static_cast<double>(devices.size())).median;
}

}  // namespace c63::bench
