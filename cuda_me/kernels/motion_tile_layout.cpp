#include <algorithm>

#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {
namespace {

template <int kColumns>
std::uint32_t tiles(const MotionJob& job, int pairs) {
  constexpr int kRows = TileShape<kColumns>::kPairs;
  return static_cast<std::uint32_t>(pairs) * static_cast<std::uint32_t>((job.height / kBlockSize + kRows - 1) / kRows);
}

/// The widest loads that fit the plane's address, pitch and width and every window's first column: windows start at
/// multiples of 16 less the range.
int granule_of(const MotionJob& job) {
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(job.reference) |
                             static_cast<std::uintptr_t>(job.reference_pitch) | static_cast<std::uintptr_t>(job.width) |
                             static_cast<std::uintptr_t>(job.range);
  return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 0;
}

}  // namespace

std::uint32_t lay_out_tiles(TileBatch& batch, std::span<const MotionJob> jobs) {
  std::uint32_t first = 0;
  batch.count = static_cast<int>(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const MotionJob& job = jobs[i];
    TileJob& tile = batch.jobs[i];
    tile.job = job;
    tile.pairs = (job.width + kTilePair - 1) / kTilePair;
    tile.reciprocal = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) - 1) / static_cast<unsigned>(tile.pairs) + 1);
    tile.first_tile = first;
    tile.narrow = job.range <= TileShape<4>::kSpan / 2;
    tile.granule = granule_of(job);
    first += tile.narrow ? tiles<4>(job, tile.pairs) : tiles<8>(job, tile.pairs);
  }
  return first;
}

}  // namespace c63::cuda
