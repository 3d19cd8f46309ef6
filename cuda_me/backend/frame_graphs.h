#pragma once

#include <array>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// The work of a frame, recorded as graphs. Only for a backend with one chain. There is a graph for each place that its
/// frames take in turn, so that no graph ever changes. Recorded are frames whose picture is the usual one of their slot
/// and whose blocks all have a vector (or none, in a key frame). Other frames are launched kernel by kernel.
class FrameGraphs {
 public:
  /// Makes no graphs.
  FrameGraphs() = default;
  FrameGraphs(const CodingContext& context, const Chain& chain, MotionSearch& search, const Stream& coding,
              const Stream& download);

  /// Returns the search and coding of a frame, or null if it must be launched on the stream. `search` may ask for that,
  /// to measure times.
  [[nodiscard]] const GraphExec* coding(int slot, const FrameRole& role, MotionSearch& search) const;
  /// Returns writing and download of a scan, or null if there is no graph.
  [[nodiscard]] const GraphExec* scan(int turn) const;

 private:
  std::array<GraphExec, kChainDepth> key_;                 ///< by slot: coding
  std::vector<std::array<GraphExec, kChainDepth>> inter_;  ///< by choice of the search, and slot: search and coding
  std::array<GraphExec, kBatchesInFlight> scan_;           ///< by turn
};

}  // namespace c63::cuda
