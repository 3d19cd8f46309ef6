#include <algorithm>

#include "cuda_me/kernels/motion_tile.cuh"
#include "cuda_me/kernels/tensor_map.h"

namespace c63::cuda {
namespace {

template <int kColumns>
std::uint32_t tiles(const MotionJob& job, int pairs) {
  constexpr int kRows = TileShape<kColumns>::kPairs;
  return static_cast<std::uint32_t>(pairs) * static_cast<std::uint32_t>((job.height / kBlockSize + kRows - 1) / kRows);
}

template <int kColumns>
CUtensorMap map_reference(const MotionJob& job) {
  return map_plane(job.reference, job.reference_pitch, job.width, job.height, kTilePitch, TileShape<kColumns>::kBoxRows);
}

}  // namespace

std::uint32_t lay_out_tiles(TileBatch& batch, std::span<const MotionJob> jobs, bool use_maps) {
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
    tile.mapped = use_maps && can_map_plane(job.reference, job.reference_pitch);
    if (tile.mapped) batch.maps[i] = tile.narrow ? map_reference<4>(job) : map_reference<8>(job);
    first += tile.narrow ? tiles<4>(job, tile.pairs) : tiles<8>(job, tile.pairs);
  }
  return first;
}

}  // namespace c63::cuda
