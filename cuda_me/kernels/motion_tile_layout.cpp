#include <algorithm>

#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {
namespace {

/// The widest loads, in bytes, that are always aligned and never cross the plane's edge; 0: only single bytes. They
/// depend on the plane's address, pitch and width, and on the first columns of windows: multiples of 16 minus the
/// range.
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
    tile.narrow = job.range <= TileShape<4>::kSpan / 2;
    const TileGrid grid(job, tile.narrow ? TileShape<4>::kPairs : TileShape<8>::kPairs);
    tile.job = job;
    tile.pairs = grid.pairs;
    tile.reciprocal = grid.reciprocal;
    tile.first_tile = first;
    tile.granule = granule_of(job);
    first += grid.tiles;
  }
  return first;
}

}  // namespace c63::cuda
