#pragma once

#include <array>
#include <cstdint>

#include "backend/backend.h"
#include "cuda_me/backend/chain_memory.h"

namespace c63::cuda {

/// What a frame's plan means for the buffers of its chain.
struct FrameRole {
  bool key = false;
  bool by_rate = false;          ///< vectors, blocks without one and levels are decided by rate and distortion
  bool is_weighted = false;      ///< the plan has weights
  bool has_original = false;     ///< the frame comes filtered, and with what it was before
  bool inherits = false;         ///< predicts from the reference of the frame before, and takes that frame's place
  int reconstruction = 0;        ///< which of the chain's pictures it becomes

  friend bool operator==(const FrameRole&, const FrameRole&) = default;
};

/// A frame on its way through a chain.
struct FrameSlot {
  ChainFrame frame;
  FrameRole role;
  std::uint8_t* staging = nullptr;  ///< page-locked memory for its samples, until it is submitted
  std::int64_t upload = 0;          ///< which upload brings it
  QuantizationTables tables{};      ///< those that the device has for this slot
  QuantizationTables decision_tables{};  ///< likewise, as decisions use them
};

/// A GOP chain: its memory, and the frames that it holds.
struct Chain {
  DeviceChain device;
  HostChain host;
  std::array<FrameSlot, kChainDepth> slots;
  // Counters of frames; a frame's slot is its count modulo kChainDepth.
  std::int64_t added = 0;
  std::int64_t submitted = 0;  ///< handed over to the batch queue, which guards this and the next one
  std::int64_t launched = 0;
  int newest = 0;      ///< the picture that the frame added last becomes
  bool inter = false;  ///< that frame is one
  bool may_repeat = false;  ///< that frame may become a repeat of the one before

  [[nodiscard]] FrameSlot& next_slot() { return slots[static_cast<std::size_t>(added % kChainDepth)]; }
};

/// Takes the chain on by a frame; says what it does with the chain's buffers. Throws Error (internal) for plans that no decoder
/// would follow: a frame whose reference does not advance comes after an inter frame.
[[nodiscard]] FrameRole advance(Chain& chain, const ChainFrame& frame, const FrameLayout& layout);

/// One frame of a batch.
struct BatchEntry {
  int chain = 0;
  int slot = 0;
};

/// The work on one frame: where it lies, and where its outputs go. `turn` is its batch's number modulo kBatchesInFlight.
[[nodiscard]] CodingJob job_of(const CodingContext& context, const Chain& chain, int slot, int turn, const FrameRole& role);

}  // namespace c63::cuda
