#include "cuda_me/backend/plain_stages.h"

#include "codec/search_window.h"
#include "cuda_me/backend/user_frame_search.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {

void add_searches(const CodingContext& context, const CodingJob& job, std::vector<MotionJob>& searches) {
  const FrameLayout& layout = context.layout;
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = context.geometry.plane(p);
    searches.push_back({.current = job.current + layout.offset[p],
                        .reference = job.reference + layout.offset[p],
                        .current_pitch = plane.width,
                        .reference_pitch = plane.width,
                        .width = plane.width,
                        .height = plane.height,
                        .range = plane_search_range(context.settings.coding.search_range, p),
                        .vectors = job.vectors + layout.first_block[p],
                        .sads = job.sads + layout.first_block[p]});
  }
}

PlainStages::PlainStages(const CodingContext& context, MotionKernel kernel, std::size_t frames)
    : context_(context), search_(make_motion_search(kernel)) {
  searches_.reserve(frames * kPlanes);
}

void PlainStages::enqueue(std::span<const CodingJob> jobs, cudaStream_t stream, UserFrameSearch* user) {
  if (jobs.empty()) return;
  const Range range("plain");
  searches_.clear();
  for (const CodingJob& job : jobs) {
    if (job.reference != nullptr) add_searches(context_, job, searches_);
  }
  if (!searches_.empty()) user != nullptr ? user->enqueue(jobs, stream) : search_->enqueue(searches_, stream);
  enqueue_coding(context_.layout, jobs, stream);
}

}  // namespace c63::cuda
