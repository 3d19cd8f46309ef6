#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda_me/backend/chain_memory.h"
#include "cuda_me/kernels/motion.h"

namespace c63::cuda {

class UserFrameSearch;

/// Adds the searches of all planes of an inter frame to `searches`.
void add_searches(const CodingContext& context, const CodingJob& job, std::vector<MotionJob>& searches);

/// Runs the stages of frames that are not decided by rate, up to the bits of their segments: search by SAD, transform,
/// quantization, reconstruction. RateStages does the same for the other frames.
class PlainStages {
 public:
  /// Makes the stages for batches of at most `frames` frames.
  PlainStages(const CodingContext& context, MotionKernel kernel, std::size_t frames);

  /// Launches all work of these frames. If `user` is not null, it replaces the search.
  void enqueue(std::span<const CodingJob> jobs, cudaStream_t stream, UserFrameSearch* user);
  [[nodiscard]] MotionSearch& search() const { return *search_; }

 private:
  const CodingContext& context_;
  std::unique_ptr<MotionSearch> search_;
  std::vector<MotionJob> searches_;
};

}  // namespace c63::cuda
