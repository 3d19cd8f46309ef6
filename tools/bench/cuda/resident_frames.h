#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/cuda/yuv_video.h"
#include "c63/settings.h"
#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/plain_stages.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "decide/presets.h"

namespace c63::bench {

/// Frames of a video that are already in the device's memory: kChainDepth for each GOP chain, as many as a chain has in work
/// at the same time. They serve to measure how long the device takes to code a frame.
class ResidentFrames {
 public:
  ResidentFrames(const CodingSettings& coding, const MemoryVideo& video, int lanes, const std::string& kernel)
      : context_{.settings = {.coding = coding},
                 .geometry = Geometry(coding.width, coding.height),
                 .layout = cuda::FrameLayout(Geometry(coding.width, coding.height)),
                 .keep = {},
                 .coded_capacity = cuda::usual_coded_capacity(Geometry(coding.width, coding.height))},
        search_(cuda::make_motion_search(*cuda::motion_kernel_from(kernel))),
        chains_(static_cast<std::size_t>(lanes)) {
    cuda::Carver device_size;
    cuda::Carver host_size;
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      cuda::DeviceChain::carve(device_size, context_);
      cuda::HostChain::carve(host_size, context_);
    }
    device_memory_ = cuda::DeviceBuffer<std::byte>(device_size.used());
    host_memory_ = cuda::PinnedBuffer<std::byte>(host_size.used());
    cuda::fill_async(device_memory_.data(), 0, device_memory_.bytes(), stream_);
    cuda::Carver device(device_memory_.data());
    cuda::Carver host(host_memory_.data());
    const cuda::QuantizerTable table = cuda::make_quantizer_table(preset_decisions(coding).tables);
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      chains_[i].device = cuda::DeviceChain::carve(device, context_);
      chains_[i].host = cuda::HostChain::carve(host, context_);
      for (std::size_t k = 0; k < cuda::kChainDepth; ++k) {
        const cuda::DeviceChain::Input& input = chains_[i].device.inputs[k];
        const auto frame = video.frame(static_cast<std::int64_t>(k + i));
        const std::uint8_t* from = frame.data();
        for (int p = 0; p < kPlanes; ++p) {
          cuda::copy_async(input.picture + context_.layout.offset[p], from, context_.layout.coded[p], stream_);
          from += context_.layout.coded[p];
        }
        cuda::copy_async(input.quantizers, table.data(), table.size(), stream_);
        stream_.synchronize();
      }
    }
  }

  [[nodiscard]] const cuda::Stream& stream() const { return stream_; }
  [[nodiscard]] const cuda::CodingContext& context() const { return context_; }
  [[nodiscard]] std::span<const cuda::Chain> chains() const { return chains_; }
  /// Returns the jobs for the chosen frames, one for each chain.
  [[nodiscard]] std::span<const cuda::CodingJob> jobs() const { return jobs_; }

  /// Makes frame `index` of all chains the one that search(), code() and write() work on. Frame 0 is a key frame.
  void choose(int index) {
    jobs_.clear();
    searches_.clear();
    const cuda::FrameRole role{.key = index == 0, .reconstruction = index % 2};
    for (const cuda::Chain& chain : chains_) {
      jobs_.push_back(cuda::job_of(context_, chain, index % cuda::kChainDepth, index % 2, role));
      if (!role.key) cuda::add_searches(context_, jobs_.back(), searches_);
    }
  }
  void search() {
    if (!searches_.empty()) search_->enqueue(searches_, stream_);
  }
  void code() { cuda::enqueue_coding(context_.layout, jobs_, stream_); }
  void write() { cuda::enqueue_scan_writing(context_.layout, jobs_, stream_); }
  void download() { cuda::enqueue_scan_download(jobs_, stream_); }

  [[nodiscard]] double coded_bytes() const {
    double bytes = 0;
    for (const cuda::Chain& chain : chains_) bytes += static_cast<double>(chain.host.outputs[1].report->scan_bytes);
    return bytes / static_cast<double>(chains_.size());
  }

 private:
  cuda::CodingContext context_;
  cuda::Stream stream_;
  std::unique_ptr<cuda::MotionSearch> search_;
  cuda::DeviceBuffer<std::byte> device_memory_;
  cuda::PinnedBuffer<std::byte> host_memory_;
  std::vector<cuda::Chain> chains_;
  std::vector<cuda::CodingJob> jobs_;
  std::vector<cuda::MotionJob> searches_;
};

}  // namespace c63::bench
