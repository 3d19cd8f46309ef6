#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "c63/cuda/backend.h"
#include "cuda_me/backend/batch_queue.h"
#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/frame_results.h"
#include "cuda_me/backend/frame_stages.h"
#include "cuda_me/backend/upload_queue.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/lookahead/source_frames.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "decide/resolved_encode.h"

namespace c63::cuda {

/// The GPU that a backend uses.
struct DeviceChoice {
  int index = 0;      ///< CUDA's index
  int number = 0;     ///< the GPU's number in messages
  int trace_row = 0;  ///< the first of the device's three rows in MeasurementSettings::trace
};

/// One GPU as a device of a run. Frames are read into page-locked memory, and UploadQueue uploads them. BatchQueue
/// collects them in batches. FrameStages searches, codes and downloads a batch, with RateStages and
/// FrameGraphs. FrameResults turns its results into encoded frames.
class CudaBackend final : public Backend {
 public:
  /// Uses the thread's current device. Throws Error (memory) if `chains` chains do not fit in memory.
  CudaBackend(const ResolvedEncode& encode, const CudaBackendOptions& options, const DeviceChoice& device, int chains);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] std::span<std::uint8_t> input(int chain) override;
  void discard_input(int chain) override;
  [[nodiscard]] bool accepts(std::span<const std::uint8_t> in_place) const override;
  void submit(std::span<const ChainFrame> frames) override;
  void collect(std::vector<CodedFrame>& finished) override;
  [[nodiscard]] SourceFrames* source_frames(int chain) override;

 private:
  /// Gives the chains their parts of the device's and the host's memory. Returns the rest of the host's memory: the
  /// staging frames.
  std::vector<std::uint8_t*> carve_memory();
  /// Adds a frame to its chain, and the frame's data to the pending upload.
  void add(const ChainFrame& frame);
  void add_samples(std::span<const std::uint8_t> samples, bool on_device, std::uint8_t* picture);
  /// Adds the unfiltered picture of a filtered frame to the pending upload. If it is in host memory and PSNR is not
  /// measured, the device does not need it, and nothing is added.
  void add_original(const ChainFrame& frame, std::uint8_t* picture);
  void add_plan(FrameSlot& slot, const DeviceChain::Input& to, const HostChain::Input& from);
  [[nodiscard]] Chain& chain(int number) { return chains_[static_cast<std::size_t>(number)]; }

  int device_;
  CodingContext context_;
  DeviceBuffer<std::byte> device_memory_;
  PinnedBuffer<std::byte> host_memory_;
  std::vector<Chain> chains_;
  UploadQueue uploads_;
  FrameStages stages_;
  BatchQueue batches_;
  FrameResults results_;
  std::deque<CudaSourceFrames> source_frames_;  ///< by chain; empty without look-ahead
  BackendInfo info_;
};

}  // namespace c63::cuda
