#pragma once

#include <array>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// The work on a frame, recorded as CUDA graphs. Only for a backend with one GOP chain. The buffers of a chain's frames
/// repeat after kChainDepth frames, and there is a graph for each set of buffers, so no graph is ever changed. A frame
/// uses a graph if it is reconstructed to picture `slot % 2`, and either is a key frame or has a vector for every
/// block. Other frames are launched kernel by kernel.
class FrameGraphs {
 public:
  /// Has no graphs.
  FrameGraphs() = default;
  FrameGraphs(const CodingContext& context, const Chain& chain, MotionSearch& search, const Stream& coding,
              const Stream& download);

  /// Returns the graph of a frame's search and coding, or null if the frame must be launched on the stream, for example
  /// because `search` measures times.
  [[nodiscard]] const GraphExec* coding(int slot, const FrameRole& role, MotionSearch& search) const;
  /// Returns the graph that writes and downloads a scan, or null if there is none.
  [[nodiscard]] const GraphExec* scan(int turn) const;

 private:
  std::array<GraphExec, kChainDepth> key_;                 ///< coding, by slot
  std::vector<std::array<GraphExec, kChainDepth>> inter_;  ///< search and coding, by choice of the search and by slot
  std::array<GraphExec, kBatchesInFlight> scan_;           ///< by `turn` (see job_of())
};

}  // namespace c63::cuda
