#pragma once

#include <array>
#include <cstdint>

#include "backend/backend.h"
#include "cuda_me/backend/chain_memory.h"

namespace c63::cuda {

/// The effect of a frame's plan on the buffers of its chain.
struct FrameRole {
  bool key = false;
  bool by_rate = false;          ///< vectors, blocks without one and levels are decided by rate and distortion
  bool is_weighted = false;      ///< the plan has weights
  bool has_original = false;     ///< the frame is filtered, and its original comes with it
  bool inherits = false;         ///< predicts from the reference of the previous frame, and takes that frame's place
  int reconstruction = 0;        ///< which of the chain's pictures it becomes

  friend bool operator==(const FrameRole&, const FrameRole&) = default;
};

/// A frame on its way through a chain.
struct FrameSlot {
  ChainFrame frame;
  FrameRole role;
  std::uint8_t* staging = nullptr;  ///< page-locked memory for its samples, until it is submitted
  std::int64_t upload = 0;          ///< the upload that brings it
  QuantizationTables tables{};      ///< the device's quantizers for this slot
  QuantizationTables decision_tables{};  ///< the same, in the form that decisions use
};

/// A GOP chain: its memory, and the frames that it holds.
struct Chain {
  DeviceChain device;
  HostChain host;
  std::array<FrameSlot, kChainDepth> slots;
  // Counters of frames; a frame's slot is its count modulo kChainDepth.
  std::int64_t added = 0;
  std::int64_t submitted = 0;  ///< handed over to the batch queue, which guards this and the next counter
  std::int64_t launched = 0;
  int newest = 0;           ///< the picture that the newest frame becomes
  bool inter = false;       ///< the newest frame is a key frame
  bool may_repeat = false;  ///< the newest frame may become a repeat of the previous one

  [[nodiscard]] FrameSlot& next_slot() { return slots[static_cast<std::size_t>(added % kChainDepth)]; }
};

/// Moves the chain on by one frame. Returns what the frame does with the chain's buffers. Throws Error (internal) for
/// plans that no decoder accepts: a frame whose reference does not advance must follow an inter frame.
[[nodiscard]] FrameRole advance(Chain& chain, const ChainFrame& frame, const FrameLayout& layout);

/// One frame of a batch.
struct BatchEntry {
  int chain = 0;
  int slot = 0;
};

/// Returns the work on one frame: its place, and the places of its outputs. `turn` is its batch's number modulo
/// kBatchesInFlight.
[[nodiscard]] CodingJob job_of(const CodingContext& context, const Chain& chain, int slot, int turn, const FrameRole& role);

}  // namespace c63::cuda
