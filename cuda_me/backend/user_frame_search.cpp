#include "cuda_me/backend/user_frame_search.h"

#include "c63/error.h"
#include "c63/user_search.h"
#include "cuda_me/backend/chain.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/memory.h"
#include "decide/vectors.h"

namespace c63::cuda {
namespace {

static_assert(kNotWritten.x == static_cast<std::int8_t>(kNotWrittenByte) && kNotWritten.y == kNotWritten.x);

std::unique_ptr<FileSearch> load(const UserSearch& user) {
  if (user.kernel.empty()) {
    throw Error(ErrorKind::usage, "C63-SEARCH-DEVICE", "is a search for the CPU, but a GPU was chosen to encode",
                {.file = user.name});
  }
  return load_search(user.kernel, user.kernel_host_part);
}

}  // namespace

UserFrameSearch::UserFrameSearch(const CodingContext& context)
    : context_(context), search_(load(*context.settings.coding.user_search)) {}

void UserFrameSearch::add(const CodingJob& job, cudaStream_t stream) {
  if (job.reference == nullptr) return;
  fill_async(job.vectors, kNotWrittenByte, static_cast<std::size_t>(context_.layout.blocks) * sizeof(MotionVector), stream);
  add_searches(context_, job, jobs_);
}

void UserFrameSearch::search(cudaStream_t stream) {
  std::erase_if(jobs_, [](const MotionJob& job) { return job.range == 0; });
  if (jobs_.empty()) return;
  check(cudaStreamWaitEvent(stream, searched_.get(), 0), "cudaStreamWaitEvent");
  search_->enqueue(jobs_, stream);
  searched_.record(stream);
  jobs_.clear();
}

void UserFrameSearch::enqueue(std::span<const CodingJob> jobs, cudaStream_t stream) {
  for (const CodingJob& job : jobs) add(job, stream);
  search(stream);
  enqueue_check_vectors(context_.layout, jobs, context_.settings.coding.search_range, stream);
}

void UserFrameSearch::enqueue(std::span<const RateFrame> frames, const RateGroup& group, cudaStream_t stream) {
  for (const RateFrame& frame : frames) add(frame.job, stream);
  search(stream);
  enqueue_check_vectors(context_.layout, group, stream);
}

}  // namespace c63::cuda
