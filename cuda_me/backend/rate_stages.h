#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/memory.h"
#include "decide/frame_plan.h"

namespace c63::cuda {

class UserFrameSearch;

/// A frame of a batch that is decided by rate and distortion.
struct RateItem {
  RateFrame frame;  ///< job, quantizers, decided, original and planned_weights; prepare() sets the other members
  const FramePlan* plan = nullptr;
  int side = 0;  ///< 0 or 1; the same for all frames of a chain
};

/// Runs the stages of frames that are decided by rate and distortion, up to the bits of their segments
/// (kernels/rate_frame.h). FrameStages::enqueue_plain() does the same for the other frames.
///
/// The GOP chains are divided into two sides. Each side has its own memory for data between stages, so it may use its
/// own stream. The beam search of one side leaves most of the device idle. Stages of the other side run on that part at
/// the same time.
class RateStages {
 public:
  static constexpr int kSides = 2;
  using Streams = std::array<cudaStream_t, kSides>;

  /// Makes the stages for batches of at most `frames` frames. Allocates no memory; reserve() and enqueue() do.
  RateStages(const CodingContext& context, std::size_t frames);

  /// Allocates the memory for frames with these decisions. If more memory is needed than before, first waits for the
  /// work on `streams`.
  void reserve(const RateDecisions& rate, const Streams& streams);
  /// Launches all work of a batch on the streams of its sides. `outputs` is Batch::outputs. If `user` is not null, it
  /// replaces the stage that searches.
  void enqueue(std::span<const RateItem> items, std::size_t outputs, const Streams& streams, UserFrameSearch* user);

  /// Frames of one side that go through the stages together. Memory limits their number.
  struct Group {
    RateGroup frames;
    std::span<const RateFrame> on_host;
    int side = 0;
  };
  /// Prepares the inputs of the stages and returns the groups. Groups of a side share memory. So each group must go
  /// through all stages before the next group of its side begins.
  [[nodiscard]] std::vector<Group> prepare(std::span<const RateItem> items, std::size_t outputs,
                                           const Streams& streams);

 private:
  [[nodiscard]] RateScratch carve(Carver& carver, int capacity) const;
  [[nodiscard]] std::size_t scratch_bytes(int capacity) const;
  [[nodiscard]] RateFrame frame_of(const RateItem& item, const RateScratch& scratch);
  [[nodiscard]] RateGroup group_of(std::span<const RateFrame> frames, const RateFrame* on_device) const;

  const CodingContext& context_;
  std::size_t frames_;
  int capacity_ = 0;              ///< candidates per block that memory is allocated for
  std::size_t group_frames_ = 0;  ///< frames of a side that memory is allocated for
  DeviceBuffer<std::byte> scratch_;
  DeviceBuffer<RateFrame> on_device_;  ///< by Batch::outputs, then by side
  PinnedBuffer<RateFrame> on_host_;
  Cost lambda_ = 0;
  WeightedLambdas weighted_;  ///< computed from lambda_
};

}  // namespace c63::cuda
