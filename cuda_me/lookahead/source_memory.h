#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/geometry.h"
#include "cuda_me/lookahead/lookahead_kernels.h"
#include "cuda_me/runtime/carver.h"
#include "decide/lookahead_decisions.h"

namespace c63::cuda {

/// Distances for which sums of motion are made: the previous frame, the one before it, and one further back.
inline constexpr std::size_t kMotionSums = 3;

/// A chain's device arrays for frames that are looked at before they are coded. Without look-ahead there are none.
/// Zeroed once, because what lies past the coded samples of a picture must stay zero.
struct SourceMemory {
  struct Frame {
    std::uint8_t* linear = nullptr;
    std::uint8_t* picture = nullptr;
    std::array<SourceBlock*, 2> backward{};  ///< motion against the previous frame and the one before it
    PassedError* flow = nullptr;
  };
  std::vector<Frame> frames;
  std::vector<std::uint8_t*> averaged;               ///< linear
  SourceBlock* further = nullptr;                    ///< motion of the newest frame against one further back
  std::array<SourceBlock*, kFilterReach> forward{};  ///< of an averaged frame against the frames after it
  std::uint32_t* importances = nullptr;
  Weight* weights = nullptr;
  MotionSums* sums = nullptr;  ///< kMotionSums

  /// Frames that are handed out do not change until `kept` later ones are handed out.
  static SourceMemory carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions, int kept);
};

/// The same arrays in page-locked host memory.
struct SourceStaging {
  std::uint8_t* input = nullptr;  ///< a frame, linear
  Weight* weights = nullptr;
  MotionSums* sums = nullptr;

  static SourceStaging carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions);
};

}  // namespace c63::cuda
