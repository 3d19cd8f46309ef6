// The best combination of what the other kernels show, chosen by architecture: the register tile, its window by the copy
// engine where there is one (sm_90), its minima on the floating-point pipe where that is idle.

#include "c63/cuda/devices.h"
#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/motion_tile.cuh"
#include "cuda_me/kernels/tensor_map.h"

namespace c63::cuda {
namespace {

/// What an architecture is given.
struct FastPolicy {
  bool copy_engine = false;
};

[[nodiscard]] FastPolicy policy_for(const DeviceInfo& device) {
  return {.copy_engine = device.compute_major >= 9 && have_tensor_maps()};
}

__global__ void __launch_bounds__(kTileThreads, 4) motion_fast(const __grid_constant__ TileBatch batch) {
  search_tiles<FloatMinimum>(batch);
}

class FastSearch final : public MotionSearch {
 public:
  explicit FastSearch(const FastPolicy& policy) : policy_(policy) {}

  [[nodiscard]] MotionKernelResources resources() const override {
    return kernel_resources(reinterpret_cast<const void*>(motion_fast), kTileThreads, 0);
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    TileBatch batch{};
    const std::uint32_t tiles = lay_out_tiles(batch, jobs, policy_.copy_engine);
    launch("motion_fast", motion_fast, {dim3(tiles), dim3(kTileThreads)}, stream, batch);
  }

 private:
  FastPolicy policy_;
};

}  // namespace

std::unique_ptr<MotionSearch> make_fast_search() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return std::make_unique<FastSearch>(policy_for(require_device(device)));
}

}  // namespace c63::cuda
