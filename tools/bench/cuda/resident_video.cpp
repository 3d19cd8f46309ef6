#include "bench/cuda/resident_video.h"

#include <algorithm>

#include "codec/geometry.h"

namespace c63::bench {

ResidentVideo::ResidentVideo(const LumaVideo& video, int range, const cuda::Stream& stream)
    : blocks_(static_cast<std::size_t>(video.width / kBlockSize) * (video.height / kBlockSize)) {
  const std::size_t samples = static_cast<std::size_t>(video.width) * video.height;
  for (const auto& frame : video.frames) {
    pinned_.emplace_back(samples);
    std::copy(frame.begin(), frame.end(), pinned_.back().data());
    device_.emplace_back(samples);
    cuda::copy_async(device_.back().data(), pinned_.back().data(), samples, stream);
  }
  stream.synchronize();
  for (std::size_t i = 1; i < device_.size(); ++i) {
    vectors_.emplace_back(blocks_);
    sads_.emplace_back(blocks_);
    jobs_.push_back({device_[i].data(), device_[i - 1].data(), video.width, video.width, video.width, video.height,
                     range, vectors_.back().data(), sads_.back().data()});
  }
}

void ResidentVideo::upload_pair(std::size_t i, cudaStream_t stream) {
  for (std::size_t k = i; k < i + 2; ++k) {
    cuda::copy_async(device_[k].data(), pinned_[k].data(), pinned_[k].size(), stream);
  }
}

void ResidentVideo::poison(cudaStream_t stream) const {
  for (const auto& v : vectors_) cuda::fill_async(v.data(), 0xCD, v.bytes(), stream);
  for (const auto& s : sads_) cuda::fill_async(s.data(), 0xCD, s.bytes(), stream);
}

std::vector<MotionField> ResidentVideo::results(const cuda::Stream& stream) const {
  std::vector<MotionField> fields(jobs_.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    fields[i] = {jobs_[i].width / kBlockSize, jobs_[i].height / kBlockSize, std::vector<MotionVector>(blocks_),
                 std::vector<std::uint16_t>(blocks_)};
    cuda::copy_async(fields[i].vectors.data(), vectors_[i].data(), blocks_, stream);
    cuda::copy_async(fields[i].sads.data(), sads_[i].data(), blocks_, stream);
  }
  stream.synchronize();
  return fields;
}

}  // namespace c63::bench
