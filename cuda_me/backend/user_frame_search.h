#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/kernels/file_search.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// Runs a search of the user's own (c63/user_search.h) instead of the backend's search, and checks the vectors that it
/// finds.
class UserFrameSearch {
 public:
  /// Compiles and loads the search of the settings for the current device. Throws Error (usage, C63-SEARCH-DEVICE) if
  /// it is a search for the CPU. Otherwise throws as load_search() does.
  explicit UserFrameSearch(const CodingContext& context);

  /// Enqueues on `stream` the search of all inter frames among the jobs, and the check of their vectors.
  void enqueue(std::span<const CodingJob> jobs, cudaStream_t stream);
  /// Enqueues the same work for a group of frames that are decided by rate. `frames` are the frames of `group`, in host
  /// memory.
  void enqueue(std::span<const RateFrame> frames, const RateGroup& group, cudaStream_t stream);

 private:
  void add(const CodingJob& job, cudaStream_t stream);
  void search(cudaStream_t stream);

  const CodingContext& context_;
  std::unique_ptr<FileSearch> search_;
  std::vector<MotionJob> jobs_;
  Event searched_;  ///< the search has its own memory, so calls in two streams must not overlap
};

}  // namespace c63::cuda
