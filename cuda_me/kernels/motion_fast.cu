// The best combination of what the other kernels show, chosen by architecture.

#include "c63/cuda/devices.h"
#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {
namespace {

/// What an architecture is given.
struct FastPolicy {
  /// Minima by floating point, beside the pipe that VABSDIFF4 has to itself then. Measured on sm_90 it is as fast as
  /// integer minima (48.0 us a 1080p luma frame either way): an FADD takes half a slot from VABSDIFF4, and three of
  /// them stand for one minimum and its key. Not measured elsewhere; without it before sm_80.
  bool float_minimum = false;
};

[[nodiscard]] constexpr FastPolicy policy_for(int compute_major) { return {.float_minimum = compute_major >= 8}; }

template <typename Minimum>
__global__ void __launch_bounds__(kTileThreads, kTileResident) motion_fast(const __grid_constant__ TileBatch batch) {
  search_tiles<Minimum>(batch);
}

class FastSearch final : public MotionSearch {
 public:
  explicit FastSearch(const FastPolicy& policy)
      : kernel_(policy.float_minimum ? motion_fast<FloatMinimum> : motion_fast<IntegerMinimum>) {}

  [[nodiscard]] MotionKernelResources resources() const override {
    return kernel_resources(reinterpret_cast<const void*>(kernel_), kTileThreads, 0);
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    TileBatch batch{};
    const std::uint32_t tiles = lay_out_tiles(batch, jobs);
    launch("motion_fast", kernel_, {dim3(tiles), dim3(kTileThreads)}, stream, batch);
  }

 private:
  void (*kernel_)(TileBatch);
};

}  // namespace

std::unique_ptr<MotionSearch> make_fast_search() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return std::make_unique<FastSearch>(policy_for(require_device(device).compute_major));
}

}  // namespace c63::cuda
