// The best combination of what the other kernels show, chosen by architecture.

#include <algorithm>

#include "c63/cuda/devices.h"
#include "cuda_me/kernels/motion_bulk.cuh"
#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {
namespace {

/// What an architecture is given.
struct FastPolicy {
  /// Windows by bulk tensor copies where a plane allows them. Measured on sm_90: 42.9 us a 1080p luma frame for 48.0.
  bool bulk = false;
  /// Minima by floating point, beside the pipe that VABSDIFF4 has to itself then. Measured on sm_90 it is as fast as
  /// integer minima (48.0 us a 1080p luma frame either way): an FADD takes half a slot from VABSDIFF4, and three of
  /// them stand for one minimum and its key. Not measured elsewhere; without it before sm_80.
  bool float_minimum = false;
};

[[nodiscard]] constexpr FastPolicy policy_for(int compute_major) {
  return {.bulk = compute_major >= 9, .float_minimum = compute_major >= 8};
}

template <typename Minimum>
__global__ void __launch_bounds__(kTileThreads, kTileResident) motion_fast(const __grid_constant__ TileBatch batch) {
  search_tiles<Minimum>(batch);
}

__global__ void __launch_bounds__(kBulkThreads, kBulkResident)
    motion_fast_bulk(const __grid_constant__ BulkBatch batch) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::uint8_t shared[];
  search_bulk_tiles(batch, *reinterpret_cast<BulkShared*>(shared));
#endif
}

/// The driver's description of a plane of bytes of which boxes are taken; null before CUDA 12. The driver is never
/// linked.
using EncodeTensorMap = decltype(&cuTensorMapEncodeTiled);

[[nodiscard]] EncodeTensorMap find_encode_tensor_map() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
        "cuTensorMapEncodeTiled");
  return result == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTensorMap>(found) : nullptr;
}

class FastSearch final : public MotionSearch {
 public:
  explicit FastSearch(const DeviceInfo& device)
      : tile_kernel_(policy_for(device.compute_major).float_minimum ? motion_fast<FloatMinimum>
                                                                    : motion_fast<IntegerMinimum>),
        multiprocessors_(static_cast<unsigned>(device.multiprocessors)) {
    if (!policy_for(device.compute_major).bulk) return;
    encode_tensor_map_ = find_encode_tensor_map();
    allow_shared_bytes("motion_fast_bulk", motion_fast_bulk, sizeof(BulkShared));
  }

  [[nodiscard]] MotionKernelResources resources() const override {
    if (encode_tensor_map_ == nullptr) {
      return kernel_resources(reinterpret_cast<const void*>(tile_kernel_), kTileThreads, 0);
    }
    return kernel_resources(reinterpret_cast<const void*>(motion_fast_bulk), kBulkThreads, sizeof(BulkShared));
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    std::array<MotionJob, kMaxJobs> others;
    std::size_t other_count = 0;
    BulkBatch bulk{};
    for (const MotionJob& job : jobs) {
      if (!add(bulk, job)) others[other_count++] = job;
    }
    if (bulk.count > 0) {
      launch("motion_fast_bulk", motion_fast_bulk,
             {dim3(std::min(bulk.tiles, multiprocessors_)), dim3(kBulkThreads), sizeof(BulkShared)}, stream, bulk);
    }
    if (other_count > 0) {
      TileBatch batch{};
      const std::uint32_t tiles = lay_out_tiles(batch, {others.data(), other_count});
      launch("motion_fast", tile_kernel_, {dim3(tiles), dim3(kTileThreads)}, stream, batch);
    }
  }

 private:
  /// Describes `plane` for boxes of `width` by `height` samples.
  [[nodiscard]] bool describe(CUtensorMap& map, const std::uint8_t* plane, std::ptrdiff_t pitch, const MotionJob& job,
                              unsigned width, unsigned height) const {
    const std::array<cuuint64_t, 2> sides{static_cast<cuuint64_t>(job.width), static_cast<cuuint64_t>(job.height)};
    const std::array<cuuint64_t, 1> strides{static_cast<cuuint64_t>(pitch)};
    const std::array<cuuint32_t, 2> box{width, height};
    const std::array<cuuint32_t, 2> steps{1, 1};
    return encode_tensor_map_(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<std::uint8_t*>(plane), sides.data(),
                              strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                              CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
  }

  template <int kColumns>
  [[nodiscard]] bool describe(BulkJob& bulk, const MotionJob& job) const {
    using Shape = BulkShape<kColumns>;
    return describe(bulk.reference, job.reference, job.reference_pitch, job, kBoxPitch, Shape::Tile::kRows) &&
           describe(bulk.current, job.current, job.current_pitch, job, kTilePair, Shape::kCurrentRows);
  }

  /// Adds a job to a batch if there are boxes for it: of these ranges, base and pitch multiples of 16.
  [[nodiscard]] bool add(BulkBatch& batch, const MotionJob& job) const {
    const std::uintptr_t all =
        reinterpret_cast<std::uintptr_t>(job.reference) | static_cast<std::uintptr_t>(job.reference_pitch) |
        reinterpret_cast<std::uintptr_t>(job.current) | static_cast<std::uintptr_t>(job.current_pitch);
    const bool wide = job.range == BulkShape<8>::kRange;
    const bool narrow = job.range == BulkShape<4>::kRange;
    if (encode_tensor_map_ == nullptr || all % 16 != 0 || (!wide && !narrow)) return false;
    BulkJob& bulk = batch.jobs[static_cast<std::size_t>(batch.count)];
    if (!(wide ? describe<8>(bulk, job) : describe<4>(bulk, job))) return false;
    const TileGrid grid(job, wide ? TileShape<8>::kPairs : TileShape<4>::kPairs);
    bulk.job = job;
    bulk.pairs = grid.pairs;
    bulk.reciprocal = grid.reciprocal;
    bulk.first_tile = batch.tiles;
    bulk.narrow = narrow;
    batch.tiles += grid.tiles;
    ++batch.count;
    return true;
  }

  void (*tile_kernel_)(TileBatch);
  unsigned multiprocessors_;
  EncodeTensorMap encode_tensor_map_ = nullptr;  ///< null: no bulk copies
};

}  // namespace

std::unique_ptr<MotionSearch> make_fast_search() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return std::make_unique<FastSearch>(require_device(device));
}

}  // namespace c63::cuda
