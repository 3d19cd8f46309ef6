#pragma once

#include <memory>
#include <span>
#include <vector>

#include "c63/own_search.h"
#include "cuda_me/backend/chain_memory.h"
#include "cuda_me/kernels/file_search.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// A search of the user's own (c63/own_search.h) in place of the backend's. It finds the vectors of frames, and checks them.
class OwnFrameSearch {
 public:
  /// Compiles and loads the search of the settings for the current device. Throws Error: usage (C63-SEARCH-DEVICE for a search of
  /// the CPU), and as load_search() does.
  explicit OwnFrameSearch(const CodingContext& context);

  /// Puts on `stream` the search of all inter frames among the jobs.
  void enqueue(std::span<const CodingJob> jobs, cudaStream_t stream);
  /// The same for a group of frames that are decided by rate; `frames` are those of the group.
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
