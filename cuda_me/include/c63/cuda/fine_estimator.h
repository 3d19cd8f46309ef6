#pragma once

#include <memory>
#include <span>

#include "c63/motion_search.h"

struct CUstream_st;  // cudaStream_t is a pointer to it, so no CUDA header is needed

namespace c63::cuda {

/// The search of true motion (c63/fine_motion.h) on a GPU. Its results are those of the CPU.
///
/// Use one estimator per stream, because its calls share buffers. Only one thread at a time may use it. Calls throw
/// Error: usage as c63::estimate_fine_motion() does, memory if their buffers do not fit, device if CUDA refuses the work.
class FineEstimator {
 public:
  /// Throws Error: usage for settings outside their limits, device if the GPU cannot be used.
  explicit FineEstimator(const FineMotionSettings& settings, int device = 0);
  FineEstimator(FineEstimator&&) noexcept;
  FineEstimator& operator=(FineEstimator&&) noexcept;
  ~FineEstimator();

  /// Puts the search of all pairs on `stream` and returns. Planes and results must be in device memory, and stay valid
  /// until the work is done.
  void estimate_async(std::span<const MotionPair> pairs, const MotionResults& results, CUstream_st* stream);

  /// Searches all pairs in host memory, on the estimator's own stream, and waits for the result. A plane that several
  /// pairs share is uploaded once.
  void estimate(std::span<const MotionPair> pairs, const MotionResults& results);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63::cuda
