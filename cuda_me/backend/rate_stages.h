#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda_me/backend/chain_memory.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/memory.h"
#include "decide/frame_plan.h"

namespace c63::cuda {

/// A frame of a batch that is decided by rate and distortion.
struct RateItem {
  CodingJob job;
  const FramePlan* plan = nullptr;
  const c63::Quantizer* quantizers = nullptr;  ///< DecisionQuantizers, on the device
  std::uint8_t* decided = nullptr;             ///< blocks without a vector, on the device
  const Weight* weights = nullptr;             ///< the plan's, on the device; null: none
  const std::uint8_t* original = nullptr;      ///< the picture before it was filtered; null: it was not
  int side = 0;                                ///< 0 or 1; the same for all frames of a chain
};

/// Everything of such frames up to the bits of their segments (kernels/rate_frame.h).
///
/// Frames are of one of two sides, each with memory of its own for what lies between stages, so that sides may have a stream
/// each: a beam leaves most of the device to the other side's stages.
class RateStages {
 public:
  static constexpr int kSides = 2;
  using Streams = std::array<cudaStream_t, kSides>;

  /// For batches of up to `frames`. Takes memory when it is first needed, or reserve() is called.
  RateStages(const CodingContext& context, std::size_t frames);

  /// Takes the memory for frames that are decided so; waits for `streams` where it had less before.
  void reserve(const RateDecisions& rate, const Streams& streams);
  /// Puts everything of a batch on the streams of its sides.
  void enqueue(std::span<const RateItem> items, int turn, const Streams& streams);

  /// As many frames of a side as there is memory for, which go through a stage together.
  struct Group {
    RateGroup frames;
    int side = 0;
  };
  /// Puts what the stages work on where they look for it; returns the groups. A side's go through all stages one after another.
  [[nodiscard]] std::vector<Group> prepare(std::span<const RateItem> items, int turn, const Streams& streams);

 private:
  [[nodiscard]] RateScratch carve(Carver& carver, int slots) const;
  [[nodiscard]] std::size_t scratch_bytes(int slots) const;
  [[nodiscard]] RateFrame frame_of(const RateItem& item, const RateScratch& scratch);
  [[nodiscard]] RateGroup group_of(std::span<const RateFrame> frames, const RateFrame* on_device) const;

  const CodingContext& context_;
  std::size_t frames_;
  int slots_ = 0;                 ///< candidates of a block that there is memory for
  std::size_t group_frames_ = 0;  ///< frames of a side likewise
  DeviceBuffer<std::byte> scratch_;
  DeviceBuffer<RateFrame> on_device_;  ///< by turn and place in the batch
  PinnedBuffer<RateFrame> on_host_;
  Cost lambda_ = 0;
  WeightedLambdas weighted_;  ///< of lambda_
};

}  // namespace c63::cuda
