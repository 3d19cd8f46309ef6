#pragma once

#include <array>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// The work on a frame, recorded as CUDA graphs. Used only if the backend has a single GOP chain. Every slot of the
/// chain has its own graphs, because a slot always uses the same buffers. So no graph is ever changed. A frame is
/// launched as a graph if it is not decided by rate, advances the reference, and is reconstructed to picture `slot %
/// 2`. For other frames, each kernel of search and coding is launched by itself.
class FrameGraphs {
 public:
  /// Has no graphs.
  FrameGraphs() = default;
  FrameGraphs(const CodingContext& context, const Chain& chain, MotionSearch& search, const Stream& coding,
              const Stream& download);

  /// Returns the graph of a frame's search and coding. Returns null if the frame's kernels must be launched one by one,
  /// for example because `search` measures times.
  [[nodiscard]] const GraphExec* coding(std::size_t slot, const FrameRole& role, MotionSearch& search) const;
  /// Returns the graph that writes and downloads the scan of a frame, or null if there are no graphs.
  [[nodiscard]] const GraphExec* scan(std::size_t outputs) const;

 private:
  std::array<GraphExec, kChainDepth> key_;                 ///< coding, by slot
  std::vector<std::array<GraphExec, kChainDepth>> inter_;  ///< search and coding; by kernel (choices()), by slot
  std::array<GraphExec, kBatchesInFlight> scan_;           ///< by Batch::outputs
};

}  // namespace c63::cuda
