#include "cuda_me/kernels/motion.h"

#include <array>
#include <string>

#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {

std::unique_ptr<MotionSearch> make_textbook_search();
std::unique_ptr<MotionSearch> make_tile_search();
std::unique_ptr<MotionSearch> make_automatic_search();

namespace {

// The motion kernels, simplest first. A new kernel is a file with a function that makes its search, and a row here.
// Programs, benches and tests read this list. The other steps of docs/course.md are in tools/race/examples/gpu.
constexpr std::array kKernels = {
    MotionKernelInfo{"textbook", make_textbook_search},    // a thread per candidate, current block in shared memory
    MotionKernelInfo{"tile", make_tile_search},            // 8x4 candidates a lane, shifted copies of the window
    MotionKernelInfo{"fast", make_fast_search},            // the best for the card: tile, its windows fetched ahead
    MotionKernelInfo{"eliminate", make_eliminate_search},  // successive elimination: four sums rule out most candidates
    MotionKernelInfo{"automatic", make_automatic_search},  // fast or eliminate, by their times on the video at hand
};

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

std::vector<std::string> motion_kernel_names() {
  std::vector<std::string> names;
  for (const MotionKernelInfo& info : kKernels) names.emplace_back(info.name);
  return names;
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

std::unique_ptr<MotionSearch> make_motion_search(std::string_view kernel, const char* unknown_id) {
  std::string known;
  for (const MotionKernelInfo& info : kKernels) {
    known.append(known.empty() ? "" : ", ").append(info.name);
    if (info.name != kernel) continue;
    static_cast<void>(require_device(current_device()));
    return info.make();
  }
  throw Error(ErrorKind::usage, unknown_id,
              "there is no motion kernel '" + std::string(kernel) + "'; there are " + known);
}

MotionKernelResources MotionSearch::resources() const {
  const KernelNeeds needs = form();
  if (needs.kernel == nullptr) return {};
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, needs.kernel), "cudaFuncGetAttributes");
  int blocks = 0;
  const std::size_t dynamic = needs.shared_bytes + pretended_padding(needs.kernel, needs.threads, needs.shared_bytes);
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, needs.kernel, needs.threads, dynamic),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, current_device()),
        "cudaDeviceGetAttribute");
  return {attributes.numRegs, attributes.sharedSizeBytes + needs.shared_bytes, needs.threads,
          static_cast<double>(blocks) * needs.threads / most};
}

}  // namespace c63::cuda
