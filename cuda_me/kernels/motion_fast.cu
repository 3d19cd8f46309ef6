// Searches with the fastest combination of the methods of the other kernels (except elimination). It depends on the
// architecture.

#include <algorithm>

#include "c63/cuda/devices.h"
#include "cuda_me/kernels/bulk_copy.cuh"
#include "cuda_me/kernels/motion_bulk.cuh"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/kernels/motion_tile.cuh"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda {
namespace {

__global__ void __launch_bounds__(kTileThreads, kTileResident) motion_tile(const __grid_constant__ TileBatch batch) {
  search_tiles(batch);
}

__global__ void __launch_bounds__(kBulkThreads) motion_fast_bulk(const __grid_constant__ BulkBatch batch) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::uint8_t shared[];
  search_bulk_tiles(batch, *reinterpret_cast<BulkShared*>(shared));
#endif
}

/// The bulk form, for ranges of 8 and 16 if the plane's address and pitch allow it. On sm_90, it takes 39.2 us instead
/// of 48.0 us for a 1080p luma frame.
KernelNeeds bulk_needs() {
  return {.kernel = reinterpret_cast<const void*>(motion_fast_bulk), .threads = kBulkThreads,
          .shared_bytes = sizeof(BulkShared), .since = 90, .bulk_copies = true};
}

class FastSearch final : public MotionSearch {
 public:
  /// If `plain` is true, the search takes the form for every device: tiles.
  explicit FastSearch(bool plain) : boxes_(!plain && can_run(bulk_needs())) {}

  [[nodiscard]] KernelNeeds form() const override {
    if (boxes_.available()) return bulk_needs();
    return {.kernel = reinterpret_cast<const void*>(motion_tile), .threads = kTileThreads};
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    std::array<MotionJob, kMaxJobs> others;
    std::size_t other_count = 0;
    BulkBatch bulk{};
    std::uint32_t turns = 0;
    for (const MotionJob& job : jobs) {
      if (!add(bulk, turns, job)) others[other_count++] = job;
    }
    if (bulk.count > 0) {
      const std::uint32_t blocks = std::min(turns, multiprocessors_);
      bulk.share = ((std::uint64_t{bulk.cost} << 16) + blocks - 1) / blocks;
      launch(motion_fast_bulk, {blocks, kBulkThreads, sizeof(BulkShared), Start::early}, stream, bulk);
    }
    if (other_count > 0) {
      TileBatch batch{};
      const std::uint32_t tiles = lay_out_tiles(batch, {others.data(), other_count});
      launch(motion_tile, {tiles, kTileThreads}, stream, batch);
    }
  }

 private:
  template <int kColumns>
  [[nodiscard]] bool describe(BulkJob& bulk, const MotionJob& job) const {
    using Shape = BulkShape<kColumns>;
    bulk.columns = static_cast<std::uint32_t>((job.width + kBulkBytes - 1) / kBulkBytes);
    bulk.turns = static_cast<std::uint32_t>((job.height / kBlockSize + Shape::kTurnRows - 1) / Shape::kTurnRows);
    return job.range == Shape::kRange &&
           boxes_.describe(bulk, job, {kBulkPitch, Shape::kWindowRows}, {kBulkBytes, Shape::kCurrentRows});
  }

  /// Adds a job and its turns to a batch. Returns false if the bulk kernel cannot search it.
  [[nodiscard]] bool add(BulkBatch& batch, std::uint32_t& turns, const MotionJob& job) const {
    BulkJob& bulk = batch.jobs[static_cast<std::size_t>(batch.count)];
    bulk.short_range = job.range == BulkShape<4>::kRange;
    if (!(bulk.short_range ? describe<4>(bulk, job) : describe<8>(bulk, job))) return false;
    bulk.job = job;
    bulk.first = batch.cost;
    turns += bulk.columns * bulk.turns;
    batch.cost += turn_cost(bulk.columns * bulk.turns, bulk.short_range);
    ++batch.count;
    return true;
  }

  std::uint32_t multiprocessors_ = static_cast<std::uint32_t>(require_device(current_device()).multiprocessors);
  PlaneBoxes boxes_;
};

}  // namespace

std::unique_ptr<MotionSearch> make_fast_search() { return std::make_unique<FastSearch>(false); }
std::unique_ptr<MotionSearch> make_tile_search() { return std::make_unique<FastSearch>(true); }

}  // namespace c63::cuda
