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

class OwnFrameSearch;

/// A frame of a batch that is decided by rate and distortion.
struct RateItem {
  CodingJob job;
  const FramePlan* plan = nullptr;
  const c63::Quantizer* quantizers = nullptr;  ///< DecisionQuantizers, on the device
  std::uint8_t* decided = nullptr;             ///< one for each block without a vector, on the device
  const Weight* weights = nullptr;             ///< of the plan, on the device; null: none
  const std::uint8_t* original = nullptr;      ///< the original of a filtered picture; null: not filtered
  int side = 0;                                ///< 0 or 1; the same for all frames of a chain
};

/// All stages of such frames up to the bits of their segments (kernels/rate_frame.h).
///
/// A frame belongs to one of two sides. Each side has its own memory for data between stages, so it may have its own
/// stream. A beam leaves most of the device to the other side's stages.
class RateStages {
 public:
  static constexpr int kSides = 2;
  using Streams = std::array<cudaStream_t, kSides>;

  /// For batches of up to `frames`. Allocates memory when it is first needed, or by reserve().
  RateStages(const CodingContext& context, std::size_t frames);

  /// Allocates the memory for such frames. Waits for `streams` if there was less memory before.
  void reserve(const RateDecisions& rate, const Streams& streams);
  /// Launches all work of a batch on the streams of its sides.
  /// `own` takes the place of the search; null: none.
  void enqueue(std::span<const RateItem> items, int turn, const Streams& streams, OwnFrameSearch* own);

  /// The frames of a side that go through a stage together, limited by memory.
  struct Group {
    RateGroup frames;
    std::span<const RateFrame> on_host;
    int side = 0;
  };
  /// Prepares the inputs of the stages. Returns the groups. Each group goes through all stages one after another.
  [[nodiscard]] std::vector<Group> prepare(std::span<const RateItem> items, int turn, const Streams& streams);

 private:
  [[nodiscard]] RateScratch carve(Carver& carver, int slots) const;
  [[nodiscard]] std::size_t scratch_bytes(int slots) const;
  [[nodiscard]] RateFrame frame_of(const RateItem& item, const RateScratch& scratch);
  [[nodiscard]] RateGroup group_of(std::span<const RateFrame> frames, const RateFrame* on_device) const;

  const CodingContext& context_;
  std::size_t frames_;
  int slots_ = 0;                 ///< capacity in candidates per block
  std::size_t group_frames_ = 0;  ///< capacity in frames of a side
  DeviceBuffer<std::byte> scratch_;
  DeviceBuffer<RateFrame> on_device_;  ///< by turn and place in the batch
  PinnedBuffer<RateFrame> on_host_;
  Cost lambda_ = 0;
  WeightedLambdas weighted_;  ///< of lambda_
};

}  // namespace c63::cuda
