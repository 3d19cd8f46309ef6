#pragma once

#include <array>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// The work of a frame of a backend's only chain, recorded for each of the places that its frames take in turn, so that
/// nothing of a graph is ever changed. Recorded are frames whose blocks all have a vector, or none in a key frame, and whose
/// picture is the usual one of their slot; others are put on the streams kernel by kernel.
class FrameGraphs {
 public:
  /// None.
  FrameGraphs() = default;
  FrameGraphs(const CodingContext& context, const Chain& chain, MotionSearch& search, const Stream& coding,
              const Stream& download);

  /// Search and coding of a frame; null where it has to be put on the stream, which `search` may want for its own sake.
  [[nodiscard]] const GraphExec* coding(int slot, const FrameRole& role, MotionSearch& search) const;
  /// Writing and download of a scan; null if there is none.
  [[nodiscard]] const GraphExec* scan(int turn) const;

 private:
  std::array<GraphExec, kChainDepth> key_;                 ///< by slot: coding
  std::vector<std::array<GraphExec, kChainDepth>> inter_;  ///< by choice of the search, and slot: search and coding
  std::array<GraphExec, kBatchesInFlight> scan_;           ///< by turn
};

}  // namespace c63::cuda
