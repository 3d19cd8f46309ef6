#include "c63/device_choice.h"

#include <cmath>
#include <thread>

#include "codec/geometry.h"

namespace c63 {
namespace {

/// A GPU's driver takes 230 to 380 ms to start and 60 ms to stop; its buffers take 30 to 100 ms. The frames themselves
/// take time on a GPU, too.
constexpr double kGpuStartMs = 800;

/// The number of blocks that one of 16 threads encodes in 1 ms with AVX-512 (docs/results/start.md).
double encoded_blocks_per_ms(Preset preset) {
  switch (preset) {
    case Preset::reference:
      return 2'200;
    case Preset::fast:
      return 1'300;
    case Preset::good:
      return 460;
    case Preset::best:
      return 190;
  }
  return 2'200;
}
constexpr double kDecodedBytesPerMs = 44'000;  ///< of one thread (docs/results/decoding.md)
constexpr double kSearchedBlocksPerMs = 1'000;  ///< luma blocks, of one of 16 threads

double ms(double work, double pace_of_a_thread, int threads) {
  const auto cpus = threads > 0 ? static_cast<unsigned>(threads) : std::max(1U, std::thread::hardware_concurrency());
  return work / (pace_of_a_thread * cpus);
}

}  // namespace

std::optional<double> cpu_ms_to_encode(const CodingSettings& coding, std::optional<std::int64_t> frames, int threads) {
  if (!frames) return std::nullopt;
  const double blocks = static_cast<double>(*frames) * Geometry(coding.width, coding.height).blocks();
  return ms(blocks, encoded_blocks_per_ms(coding.preset), threads);
}

std::optional<double> cpu_ms_to_decode(std::optional<std::uint64_t> bytes, int threads) {
  if (!bytes) return std::nullopt;
  return ms(static_cast<double>(*bytes), kDecodedBytesPerMs, threads);
}

std::optional<double> cpu_ms_to_search(int width, int height, std::optional<std::int64_t> frames, int threads) {
  if (!frames) return std::nullopt;
  return ms(static_cast<double>(*frames) * width * height / kBlockSamples, kSearchedBlocksPerMs, threads);
}

DeviceChoice choose_device(std::optional<double> cpu_ms) {
  if (!cpu_ms) return {false, "auto: the CPU, because the length of the work is unknown"};
  const std::string time = std::to_string(std::llround(*cpu_ms)) + " ms";
  if (*cpu_ms < kGpuStartMs) return {false, "auto: the CPU, which needs about " + time + "; a GPU would take longer to start"};
  return {true, "auto: a GPU, because the CPU would need about " + time};
}

}  // namespace c63
