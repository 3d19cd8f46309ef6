#pragma once

#include <cstddef>

#include "cuda_me/backend/chain.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// What the next frame of a chain depends on, copied on the device: both pictures, and where the blocks of the frame before
/// came from. A chain that goes back to it encodes the same frame to the same bytes, or another way.
///
/// Both calls wait for the device; nothing of the chain is in flight. `stream` is the one that frames are coded on.
class ChainState {
 public:
  ChainState(const Chain& chain, const FrameLayout& layout, const Stream& stream);

  /// Of a chain of the same backend.
  void restore(Chain& chain, const Stream& stream) const;

 private:
  std::size_t blocks_;
  std::size_t picture_bytes_;
  DeviceBuffer<std::uint8_t> pictures_;
  DeviceBuffer<MotionVector> vectors_;
  int newest_;
  bool inter_;
  bool may_repeat_;
};

}  // namespace c63::cuda
