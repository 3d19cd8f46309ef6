// The register-tile search (motion_tile.cuh), with integer keys. Windows are not loaded by bulk copies.

#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {
namespace {

__global__ void __launch_bounds__(kTileThreads, kTileResident) motion_tile(const __grid_constant__ TileBatch batch) {
  search_tiles<IntegerMinimum>(batch);
}

class TileSearch final : public MotionSearch {
 public:
  [[nodiscard]] MotionKernelResources resources() const override {
    return kernel_resources(reinterpret_cast<const void*>(motion_tile), kTileThreads, 0);
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    TileBatch batch{};
    const std::uint32_t tiles = lay_out_tiles(batch, jobs);
    launch("motion_tile", motion_tile, {dim3(tiles), dim3(kTileThreads)}, stream, batch);
  }
};

}  // namespace

std::unique_ptr<MotionSearch> make_tile_search() { return std::make_unique<TileSearch>(); }

}  // namespace c63::cuda
