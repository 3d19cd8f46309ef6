#include "cuda_me/kernels/motion.h"

#include <array>
#include <string>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

/// A new kernel is one more row here; programs, benches and tests find it here.
constexpr std::array kKernels = {
    MotionKernelInfo{MotionKernel::textbook, "textbook", "a thread per candidate, current block in shared memory",
                     make_textbook_search},
    MotionKernelInfo{MotionKernel::shared_window, "shared-window", "and the reference window in shared memory",
                     make_shared_window_search},
    MotionKernelInfo{MotionKernel::packed, "packed", "four differences an instruction", make_packed_search},
    MotionKernelInfo{MotionKernel::texture, "texture", "packed, reference fetched through a texture",
                     make_texture_search},
    MotionKernelInfo{MotionKernel::warp_key, "warp-key", "packed, minimum as one key reduced by warps",
                     make_warp_key_search},
    MotionKernelInfo{MotionKernel::sliding, "sliding", "a lane per column, rolling accumulators",
                     make_sliding_search},
    MotionKernelInfo{MotionKernel::tile, "tile", "8x4 candidates a lane in registers, shifted copies of the window",
                     make_tile_search},
    MotionKernelInfo{MotionKernel::fast, "fast", "the best for the architecture: tile, its windows fetched ahead",
                     make_fast_search},
    MotionKernelInfo{MotionKernel::eliminate, "eliminate",
                     "successive elimination: most candidates ruled out by four sums", make_eliminate_search},
    MotionKernelInfo{MotionKernel::automatic, "automatic", "fast or eliminate, by their times on the video at hand",
                     make_automatic_search},
};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kKernels.size(); ++i) {
    if (kKernels[i].kernel != static_cast<MotionKernel>(i)) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const MotionKernelInfo& row_of(MotionKernel kernel) { return kKernels[static_cast<std::size_t>(kernel)]; }

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, "C63-MOTION-JOB", why); }

void validate(const MotionJob& job) {
  if (job.current == nullptr || job.reference == nullptr || job.vectors == nullptr) {
    refuse("motion search needs a current plane, a reference plane and room for vectors");
  }
  if (job.width <= 0 || job.height <= 0 || job.width % kBlockSize != 0 || job.height % kBlockSize != 0 ||
      job.width > kMaxSide + 1 || job.height > kMaxSide + 1) {
    refuse("motion search needs sides that are multiples of 8, 8..65536; got " + std::to_string(job.width) + "x" +
           std::to_string(job.height));
  }
  if (job.current_pitch < job.width || job.reference_pitch < job.width) {
    refuse("motion search needs pitches of at least the width");
  }
  if (job.range < 0 || job.range > 127) refuse("motion search needs a range of 0..127, got " + std::to_string(job.range));
}

}  // namespace

std::span<const MotionKernelInfo> motion_kernels() { return kKernels; }

std::string_view name(MotionKernel kernel) { return row_of(kernel).name; }

std::optional<MotionKernel> motion_kernel_from(std::string_view name) {
  for (const MotionKernelInfo& info : kKernels) {
    if (info.name == name) return info.kernel;
  }
  return std::nullopt;
}

void MotionSearch::enqueue(std::span<const MotionJob> jobs, cudaStream_t stream) {
  static_assert(kMaxJobs == kBatchJobs);
  for (const MotionJob& job : jobs) validate(job);
  const Range range("motion search");
  while (!jobs.empty()) {
    const std::size_t count = std::min(jobs.size(), kMaxJobs);
    launch_jobs(jobs.first(count), stream);
    jobs = jobs.subspan(count);
  }
}

void MotionSearch::enqueue_choice(int choice, std::span<const MotionJob> jobs, cudaStream_t stream) {
  chosen(choice).enqueue(jobs, stream);
}

std::unique_ptr<MotionSearch> make_motion_search(MotionKernel kernel) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  static_cast<void>(require_device(device));
  return row_of(kernel).make();
}

MotionKernelResources kernel_resources(const void* kernel, int threads, std::size_t dynamic_shared_bytes) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic_shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device), "cudaDeviceGetAttribute");
  return {attributes.numRegs, attributes.sharedSizeBytes + dynamic_shared_bytes, threads,
          static_cast<double>(blocks) * threads / most};
}

}  // namespace c63::cuda
