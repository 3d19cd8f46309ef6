#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "cuda_me/backend/chain_memory.h"
#include "cuda_me/kernels/motion.h"

namespace c63::cuda {

/// What a frame's plan requires of its GOP chain's buffers: which of them the frame reads and writes, and how.
struct FrameRole {
  bool key = false;
  /// True if rate and distortion decide the vectors, the levels, and which blocks have no vector.
  bool by_rate = false;
  bool is_weighted = false;      ///< the plan has weights
  bool has_original = false;     ///< the frame is filtered; errors are measured against its original
  /// True if the reference does not advance. The frame is then predicted from the previous frame's reference, and its
  /// reconstruction overwrites the previous frame's.
  bool inherits = false;
  int reconstruction = 0;        ///< the picture of the chain that the frame is reconstructed to

  friend bool operator==(const FrameRole&, const FrameRole&) = default;
};

/// A frame that a chain holds, from its input to its result.
struct FrameSlot {
  ChainFrame frame;
  FrameRole role;
  std::uint8_t* staging = nullptr;  ///< page-locked memory for its samples, until it is submitted
  std::int64_t upload = 0;          ///< number of the upload that contains the frame
  QuantizationTables tables{};      ///< the tables whose quantizers are in the device's memory for this slot
  QuantizationTables decision_tables{};  ///< the same for the decision quantizers
};

/// A GOP chain: its memory, and the frames that it holds.
struct Chain {
  DeviceChain device;
  HostChain host;
  std::array<FrameSlot, kChainDepth> slots;
  // Counters of frames. A frame's slot is its number modulo kChainDepth.
  std::int64_t added = 0;
  std::int64_t submitted = 0;  ///< handed over to the batch queue, which guards this counter and the next one
  std::int64_t launched = 0;
  int newest = 0;           ///< index of the picture to which the newest frame is reconstructed
  bool inter = false;       ///< the newest frame is an inter frame
  bool may_repeat = false;  ///< the newest frame may become a repeat of the previous one

  [[nodiscard]] FrameSlot& next_slot() { return slots[static_cast<std::size_t>(added % kChainDepth)]; }
};

/// Returns the role of the chain's next frame, and updates the members that describe the newest frame. Throws Error
/// (internal) if the plan's weights are not valid, or its reference is not possible: a frame with FrameRole::inherits
/// must be an inter frame. The frame before it must also be an inter frame, and one that cannot become a repeat.
[[nodiscard]] FrameRole advance(Chain& chain, const ChainFrame& frame, const FrameLayout& layout);

/// One frame of a batch.
struct BatchEntry {
  int number = 0;  ///< of the chain
  Chain* chain = nullptr;
  std::size_t slot = 0;

  [[nodiscard]] const FrameSlot& frame() const { return chain->slots[slot]; }
  [[nodiscard]] const DeviceChain::Input& input() const { return chain->device.inputs[slot]; }
};

/// Returns the work on one frame: its inputs and the places of its outputs. `outputs` is Batch::outputs.
[[nodiscard]] CodingJob job_of(const CodingContext& context, const Chain& chain, std::size_t slot, std::size_t outputs,
                               const FrameRole& role);

/// Adds the searches of all planes of an inter frame to `searches`.
void add_searches(const CodingContext& context, const CodingJob& job, std::vector<MotionJob>& searches);

}  // namespace c63::cuda
