// The search of true motion on a GPU, for c63bench estimate.

#include <algorithm>
#include <vector>

#include "bench/bench.h"
#include "c63/cuda/fine_estimator.h"
#include "cuda_me/plane_uploads.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {

Sample time_fine_search(std::span<const MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results, int repeats) {
  const ConstPlaneView& plane = pairs[0].current;
  const cuda::Stream stream;
  cuda::DeviceBuffer<std::uint8_t> planes;
  const std::vector<MotionPair> moved = cuda::upload_pairs(pairs, plane.width, planes, stream);
  const std::size_t all = pairs.size() * static_cast<std::size_t>(plane.width / 8) * static_cast<std::size_t>(plane.height / 8);
  cuda::DeviceBuffer<FineVector> vectors(all);
  cuda::FineEstimator estimator(settings);
  const auto search = [&] {
    estimator.estimate_async(moved, {.fine = vectors.data()}, stream);
    stream.synchronize();
  };
  constexpr int kWarmUp = 20;  // until automatic choices of kernels are made, and clocks are up
  for (int i = 0; i < kWarmUp; ++i) search();
  const Sample seconds = measure(timed(search), std::max(20, repeats));
  cuda::copy_async(results.fine, vectors.data(), all, stream);
  stream.synchronize();
  return seconds;
}

}  // namespace c63::bench
