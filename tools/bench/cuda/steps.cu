#include <array>

#include "bench/cuda/kernels.h"
#include "c63/error.h"
#include "cuda_me/kernels/file_search.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"

// The files of the steps are written for a compiler that makes a module of each. Here each is in a namespace instead.
#undef C63_MOTION_KERNEL
#undef C63_MOTION_SHAPE
#define C63_MOTION_KERNEL static __global__
#define C63_MOTION_SHAPE(...) constexpr c63_motion_shape kShape = {__VA_ARGS__}

namespace c63::bench {
namespace {

namespace shared_window {
#include "race/examples/gpu/shared_window.cu"
}
namespace packed {
#include "race/examples/gpu/packed.cu"
}
namespace registers {
#include "race/examples/gpu/registers.cu"
}
namespace ahead {
#include "race/examples/gpu/ahead.cu"
}
namespace sums {
#include "race/examples/gpu/sums.cu"
}

class StepSearch final : public cuda::MotionSearch {
 public:
  using Kernel = void (*)(c63_motion_batch);

  StepSearch(Kernel kernel, const c63_motion_shape& shape) : kernel_(kernel), shape_(shape) {}

  [[nodiscard]] cuda::KernelNeeds form() const override { return needs(16); }

 protected:
  void launch_jobs(std::span<const cuda::MotionJob> jobs, cudaStream_t stream) override {
    const cuda::FileBatch batch(jobs);
    if (batch.range > allowed_) {
      if (!cuda::can_run(needs(batch.range))) {
        throw Error(ErrorKind::usage, "C63-MOTION-SHARED",
                    "this step's window does not fit in the GPU's shared memory: use a smaller range");
      }
      allowed_ = batch.range;
    }
    cuda::launch(kernel_, batch.launch_shape(shape_), stream, batch.batch);
  }

 private:
  [[nodiscard]] cuda::KernelNeeds needs(int range) const {
    return cuda::needs_of(reinterpret_cast<const void*>(kernel_), shape_, range);
  }

  Kernel kernel_;
  c63_motion_shape shape_;
  int allowed_ = 0;  ///< the largest range that the device was asked for
};

template <StepSearch::Kernel kKernel, const c63_motion_shape& kShape>
std::unique_ptr<cuda::MotionSearch> make() {
  return std::make_unique<StepSearch>(kKernel, kShape);
}

constexpr std::array<cuda::MotionKernelInfo, 5> kAllSteps = {
    {{"shared-window", make<shared_window::c63_motion, shared_window::kShape>},
     {"packed", make<packed::c63_motion, packed::kShape>},
     {"registers", make<registers::c63_motion, registers::kShape>},
     {"ahead", make<ahead::c63_motion, ahead::kShape>},
     {"sums", make<sums::c63_motion, sums::kShape>}}};

}  // namespace

std::span<const cuda::MotionKernelInfo> steps() { return kAllSteps; }

}  // namespace c63::bench
