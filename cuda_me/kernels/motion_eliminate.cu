// Exact elimination: candidates that cannot win are ruled out by the sums of their four 4x4 squares.

#include "cuda_me/kernels/motion_eliminate.cuh"
#include "cuda_me/kernels/motion_search.h"

namespace c63::cuda {
namespace {

__global__ void __launch_bounds__(kEliminateThreads, kEliminateResident)
    motion_eliminate(const __grid_constant__ EliminateBatch batch) {
  __shared__ EliminateShared shared;
  const int tile = static_cast<int>(blockIdx.x);
  int which = 0;
  while (which + 1 < batch.count && tile >= batch.jobs[which + 1].first_tile) ++which;
  eliminate_tile(shared, batch.jobs[which], tile - batch.jobs[which].first_tile);
}

/// Whether both planes can be read in words wherever x is a multiple of 4.
bool readable_in_words(const MotionJob& job) {
  const std::uintptr_t all =
      reinterpret_cast<std::uintptr_t>(job.reference) | static_cast<std::uintptr_t>(job.reference_pitch) |
      reinterpret_cast<std::uintptr_t>(job.current) | static_cast<std::uintptr_t>(job.current_pitch);
  return all % 4 == 0;
}

class EliminateSearch final : public MotionSearch {
 public:
  [[nodiscard]] MotionKernelResources resources() const override {
    return kernel_resources(reinterpret_cast<const void*>(motion_eliminate), kEliminateThreads, 0);
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    // Ranges up to 8 (chroma) have a quarter of the candidates, for which the bounds do not pay.
    std::array<MotionJob, kMaxJobs> narrow;
    std::size_t narrow_count = 0;
    EliminateBatch batch{};
    int tiles = 0;
    for (const MotionJob& job : jobs) {
      if (job.range <= kNarrow) {
        narrow[narrow_count++] = job;
        continue;
      }
      constexpr int kTileWidth = kEliminateColumns * kBlockSize;
      constexpr int kTileHeight = kEliminateRows * kBlockSize;
      const int tile_columns = (job.width + kTileWidth - 1) / kTileWidth;
      batch.jobs[static_cast<std::size_t>(batch.count++)] = {job, tile_columns, tiles, readable_in_words(job)};
      tiles += tile_columns * ((job.height + kTileHeight - 1) / kTileHeight);
    }
    if (narrow_count > 0) narrow_->enqueue({narrow.data(), narrow_count}, stream);
    if (tiles > 0) {
      launch("motion_eliminate", motion_eliminate, {dim3(static_cast<unsigned>(tiles)), dim3(kEliminateThreads)},
             stream, batch);
    }
  }

 private:
  static constexpr int kNarrow = 8;
  std::unique_ptr<MotionSearch> narrow_ = make_fast_search();
};

}  // namespace

std::unique_ptr<MotionSearch> make_eliminate_search() { return std::make_unique<EliminateSearch>(); }

}  // namespace c63::cuda
