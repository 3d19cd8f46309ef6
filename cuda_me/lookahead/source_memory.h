#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/geometry.h"
#include "cuda_me/lookahead/lookahead_kernels.h"
#include "cuda_me/runtime/carver.h"
#include "decide/presets.h"

namespace c63::cuda {

/// The number of MotionSums. They are for motion relative to three frames: the previous one, the one before it, and one
/// further back.
inline constexpr std::size_t kMotionSums = 3;

/// A chain's device arrays for looking ahead. Empty without look-ahead. All are set to zero at first: only the coded
/// samples of a plane are written, and the samples after them must be zero.
struct SourceMemory {
  struct Frame {
    std::uint8_t* linear = nullptr;          ///< the frame without padding
    std::uint8_t* picture = nullptr;         ///< the same samples as a picture (FrameLayout)
    std::array<SourceBlock*, 2> backward{};  ///< motion relative to the previous frame and the one before it
    PassedError* flow = nullptr;  ///< the errors that its blocks inherit from its reference; one per luma block
  };
  std::vector<Frame> frames;
  std::vector<std::uint8_t*> averaged;               ///< filtered frames, without padding
  SourceBlock* further = nullptr;                    ///< motion of the newest frame relative to one further back
  std::array<SourceBlock*, kFilterReach> forward{};  ///< motion of a frame to filter, relative to the later frames
  std::uint32_t* importances = nullptr;              ///< see PropagationJob
  Weight* weights = nullptr;                         ///< one for each MCU
  MotionSums* sums = nullptr;                        ///< kMotionSums

  /// Lays out the arrays. A frame that look_at() returned does not change until look_at() has returned `kept` later
  /// frames.
  static SourceMemory carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions, int kept);
};

/// The page-locked host memory through which data is copied to and from the arrays of SourceMemory.
struct SourceStaging {
  std::uint8_t* input = nullptr;  ///< a frame without padding
  Weight* weights = nullptr;
  MotionSums* sums = nullptr;

  static SourceStaging carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions);
};

}  // namespace c63::cuda
