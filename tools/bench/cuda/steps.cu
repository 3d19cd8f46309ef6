#include "bench/cuda/kernels.h"

#include <algorithm>
#include <array>

#include "cuda_me/kernels/motion_search.h"
#include <c63/motion_kernel.h>

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

  StepSearch(const char* name, Kernel kernel, const c63_motion_shape& shape) : name_(name), kernel_(kernel), shape_(shape) {}

  [[nodiscard]] cuda::MotionKernelResources resources() const override {
    return cuda::kernel_resources(reinterpret_cast<const void*>(kernel_), shape_.threads[0] * shape_.threads[1], shared_bytes(16));
  }

 protected:
  void launch_jobs(std::span<const cuda::MotionJob> jobs, cudaStream_t stream) override {
    c63_motion_batch batch{};
    int columns = 0;
    int rows = 0;
    int range = 0;
    for (const cuda::MotionJob& job : jobs) {
      batch.jobs[batch.count++] = {job.current, job.reference, job.current_pitch, job.reference_pitch, job.width, job.height, job.range,
                                   reinterpret_cast<c63_motion_vector*>(job.vectors), job.sads};
      columns = std::max(columns, job.width / kBlockSize);
      rows = std::max(rows, job.height / kBlockSize);
      range = std::max(range, job.range);
    }
    if (shared_bytes(range) > allowed_) {
      allowed_ = shared_bytes(range);
      cuda::allow_shared_bytes(name_, kernel_, allowed_);
    }
    const auto groups = [](int blocks, int each) { return static_cast<unsigned>((blocks + each - 1) / each); };
    const cuda::LaunchShape shape{dim3(groups(columns, shape_.blocks[0]), groups(rows, shape_.blocks[1]), static_cast<unsigned>(jobs.size())),
                                  dim3(static_cast<unsigned>(shape_.threads[0]), static_cast<unsigned>(shape_.threads[1])), shared_bytes(range)};
    cuda::launch(name_, kernel_, shape, stream, batch);
  }

 private:
  [[nodiscard]] std::size_t shared_bytes(int range) const {
    return static_cast<std::size_t>(shape_.shared_bytes[0] + shape_.shared_bytes[1] * range + shape_.shared_bytes[2] * range * range);
  }

  const char* name_;
  Kernel kernel_;
  c63_motion_shape shape_;
  std::size_t allowed_ = 48 << 10;
};

template <StepSearch::Kernel kKernel, const c63_motion_shape& kShape>
std::unique_ptr<cuda::MotionSearch> make() {
  return std::make_unique<StepSearch>("a step of the course", kKernel, kShape);
}

constexpr std::array kAllSteps = {Step{"shared-window", make<shared_window::c63_motion, shared_window::kShape>},
                               Step{"packed", make<packed::c63_motion, packed::kShape>},
                               Step{"registers", make<registers::c63_motion, registers::kShape>},
                               Step{"ahead", make<ahead::c63_motion, ahead::kShape>},
                               Step{"sums", make<sums::c63_motion, sums::kShape>}};

}  // namespace

std::span<const Step> steps() { return kAllSteps; }

}  // namespace c63::bench
