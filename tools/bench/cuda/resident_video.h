#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/video.h"
#include "c63/motion.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {

/// The frames of a video on the device, and memory for the results of searching each frame in the one before it.
/// Page-locked copies serve kernels that are timed with their uploads.
class ResidentVideo {
 public:
  ResidentVideo(const LumaVideo& video, int range, const cuda::Stream& stream);

  /// The jobs that search frames 1, 2, ... in the frame before.
  [[nodiscard]] const std::vector<cuda::MotionJob>& jobs() const { return jobs_; }

  /// Uploads both frames of job i, like a program that keeps no frames on the device.
  void upload_pair(std::size_t i, cudaStream_t stream);

  /// Overwrites all results with a pattern, so that no kernel can seem right by the results of an earlier one.
  void poison(cudaStream_t stream) const;

  /// Waits for the stream, and returns the results of all jobs.
  [[nodiscard]] std::vector<MotionField> results(const cuda::Stream& stream) const;

 private:
  std::size_t blocks_;  ///< in a frame
  std::vector<cuda::PinnedBuffer<std::uint8_t>> pinned_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> device_;
  std::vector<cuda::DeviceBuffer<MotionVector>> vectors_;
  std::vector<cuda::DeviceBuffer<std::uint16_t>> sads_;
  std::vector<cuda::MotionJob> jobs_;
};

}  // namespace c63::bench
