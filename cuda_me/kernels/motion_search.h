#pragma once

// The functions that make the searches, one per file, and the base class of the searches with one thread block per 8x8
// block.

#include <algorithm>
#include <memory>
#include <string>

#include "c63/error.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda {

#define C63_MOTION_KERNEL(kernel, name, text, make) std::unique_ptr<MotionSearch> make();
#include "cuda_me/kernels/motion_kernels.inc"
#undef C63_MOTION_KERNEL

/// Returns the registers, shared memory and occupancy of a kernel on the current device.
[[nodiscard]] MotionKernelResources kernel_resources(const void* kernel, int threads, std::size_t dynamic_shared_bytes);

/// A function that returns the bytes of dynamic shared memory that a search of this range needs.
using SharedBytes = std::size_t (*)(int range);

/// A search by a kernel that uses one thread block per 8x8 block. Its grid is (columns of blocks, rows of blocks,
/// jobs).
class BlockwiseSearch : public MotionSearch {
 public:
  using Kernel = void (*)(MotionBatch);

  BlockwiseSearch(const char* name, Kernel kernel, int threads, SharedBytes shared_bytes)
      : name_(name), kernel_(kernel), threads_(threads), shared_bytes_(shared_bytes) {
    while (!can_run({reinterpret_cast<const void*>(kernel), threads, shared_bytes(largest_range_)})) --largest_range_;
  }

  [[nodiscard]] MotionKernelResources resources() const override {
    return kernel_resources(reinterpret_cast<const void*>(kernel_), threads_, shared_bytes_(16));
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    MotionBatch batch{};
    int columns = 0;
    int rows = 0;
    int range = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      batch.jobs[i] = jobs[i];
      columns = std::max(columns, jobs[i].width / kBlockSize);
      rows = std::max(rows, jobs[i].height / kBlockSize);
      range = std::max(range, jobs[i].range);
    }
    if (range > largest_range_) {
      throw Error(ErrorKind::usage, "C63-MOTION-RANGE",
                  std::string(name_) + " has shared memory for ranges up to " + std::to_string(largest_range_) +
                      " on this GPU");
    }
    const LaunchShape shape{dim3(static_cast<unsigned>(columns), static_cast<unsigned>(rows),
                                 static_cast<unsigned>(jobs.size())),
                            dim3(static_cast<unsigned>(threads_)), shared_bytes_(range)};
    launch(name_, kernel_, shape, stream, batch);
  }

 private:
  const char* name_;
  Kernel kernel_;
  int threads_;
  SharedBytes shared_bytes_;
  int largest_range_ = 127;  ///< whose window fits in the device's shared memory; less than 127 only on sm_75
};

}  // namespace c63::cuda
