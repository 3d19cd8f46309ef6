// Successive elimination (SEA): uses sums of samples to rule out candidates that cannot win, before any SAD is
// computed. See W. Li and E. Salari, "Successive elimination algorithm for motion estimation", IEEE Transactions on
// Image Processing 4(1), 1995. Here the sums are those of a block's four 4x4 squares, which give a tighter bound than
// the sum of the block.

#include <algorithm>

#include "c63/cuda/devices.h"
#include "cuda_me/kernels/bulk_copy.cuh"
#include "cuda_me/kernels/motion_eliminate_queue.cuh"
#include "cuda_me/kernels/motion_eliminate_tile.cuh"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda {
namespace {

__global__ void __launch_bounds__(kEliminateThreads, kEliminateResident)
    motion_eliminate(const __grid_constant__ EliminateBatch batch) {
  __shared__ EliminateShared shared;
  __shared__ EliminateBest<1> best;
  const int tile = static_cast<int>(blockIdx.x);
  int which = 0;
  while (which + 1 < batch.count && tile >= batch.jobs[which + 1].first_tile) ++which;
  eliminate_tile(shared, best, batch.jobs[which], tile - batch.jobs[which].first_tile);
}

__global__ void __launch_bounds__(kQueueThreads) motion_eliminate_queue(const __grid_constant__ QueueBatch batch) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::uint8_t shared[];
  eliminate_queue(batch, *reinterpret_cast<QueueShared*>(shared));
#endif
}

/// Returns true if both planes can be read in words at every x that is a multiple of 4.
bool readable_in_words(const MotionJob& job) {
  const std::uintptr_t all =
      reinterpret_cast<std::uintptr_t>(job.reference) | static_cast<std::uintptr_t>(job.reference_pitch) |
      reinterpret_cast<std::uintptr_t>(job.current) | static_cast<std::uintptr_t>(job.current_pitch);
  return all % 4 == 0;
}

KernelNeeds queue_needs() {
  return {.kernel = reinterpret_cast<const void*>(motion_eliminate_queue), .threads = kQueueThreads,
          .shared_bytes = sizeof(QueueShared), .since = 90, .bulk_copies = true};
}

class EliminateSearch final : public MotionSearch {
 public:
  [[nodiscard]] KernelNeeds form() const override {
    if (boxes_.available()) return queue_needs();
    return {.kernel = reinterpret_cast<const void*>(motion_eliminate), .threads = kEliminateThreads};
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    // Ranges up to 8 (chroma) have a quarter of the candidates that a range of 16 has. There, bounds take more time
    // than they save, so these jobs are searched without bounds.
    std::array<MotionJob, kMaxJobs> short_range;
    std::size_t short_range_count = 0;
    QueueBatch queue{};
    EliminateBatch others{};
    std::uint32_t other_tiles = 0;
    for (const MotionJob& job : jobs) {
      if (job.range <= kShortRange) {
        short_range[short_range_count++] = job;
        continue;
      }
      const int tile_columns = (job.width + kTileWidth - 1) / kTileWidth;
      const auto tiles = static_cast<std::uint32_t>(tile_columns * ((job.height + kTileHeight - 1) / kTileHeight));
      QueueJob& queued = queue.jobs[queue.count];
      if (describe(queued, job)) {
        queued.job = job;
        queued.tile_columns = static_cast<std::uint32_t>(tile_columns);
        queued.first_tile = queue.tiles;
        ++queue.count;
        queue.tiles += tiles;
      } else {
        others.jobs[static_cast<std::size_t>(others.count++)] = {job, tile_columns, static_cast<int>(other_tiles),
                                                                 readable_in_words(job)};
        other_tiles += tiles;
      }
    }
    if (short_range_count > 0) short_range_->enqueue({short_range.data(), short_range_count}, stream);
    if (queue.tiles > 0) {
      launch(motion_eliminate_queue,
             {std::min(queue.tiles, multiprocessors_), kQueueThreads, sizeof(QueueShared), Start::early}, stream,
             queue);
    }
    if (other_tiles > 0) {
      launch(motion_eliminate, {other_tiles, kEliminateThreads}, stream, others);
    }
  }

 private:
  static constexpr int kShortRange = 8;
  static constexpr int kTileWidth = kEliminateColumns * kBlockSize;
  static constexpr int kTileHeight = kEliminateRows * kBlockSize;

  /// Fills `queued` for the kernel of motion_eliminate_queue.cuh. Returns false if that kernel cannot search the job:
  /// because its range is not kEliminateRange, or because bulk copies cannot read its planes.
  [[nodiscard]] bool describe(QueueJob& queued, const MotionJob& job) const {
    return job.range == kEliminateRange &&
           boxes_.describe(queued, job, {kBoxColumns, kBoxRows}, {kTileWidth, kTileHeight});
  }

  std::uint32_t multiprocessors_ = static_cast<std::uint32_t>(require_device(current_device()).multiprocessors);
  PlaneBoxes boxes_{can_run(queue_needs())};
  std::unique_ptr<MotionSearch> short_range_ = make_fast_search();
};

}  // namespace

std::unique_ptr<MotionSearch> make_eliminate_search() { return std::make_unique<EliminateSearch>(); }

}  // namespace c63::cuda
