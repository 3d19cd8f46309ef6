#pragma once

#include <cstdint>

#include "decide/cost.h"

namespace c63 {

/// How many frames errors are followed.
inline constexpr int kPropagationFrames = 8;
/// The number of frames before and after a frame that it is averaged with.
inline constexpr int kFilterReach = 2;
/// The longest distance of a frame from its reference, in frames.
inline constexpr int kMostFramesBack = 4;
/// The number of past frames that are kept, for the filter and as references.
inline constexpr int kFramesKeptBehind = kFilterReach > kMostFramesBack ? kFilterReach : kMostFramesBack;

/// The decisions that look ahead of the coded frame within a GOP.
struct LookaheadDecisions {
  bool filter = false;     ///< averages frames with their neighbours (temporal_filter.h)
  bool propagate = false;  ///< weighs error by how long it will be seen (propagated_weights.h)
  bool choose_reference = false;  ///< lets frames stay (reference_choice.h)
  Cost lambda = 0;

  friend bool operator==(const LookaheadDecisions&, const LookaheadDecisions&) = default;

  [[nodiscard]] bool any() const { return filter || propagate || choose_reference; }
  /// The number of later frames that must be seen before a frame is coded.
  [[nodiscard]] int frames() const { return propagate ? kPropagationFrames : filter ? kFilterReach : choose_reference ? 1 : 0; }
  /// The number of frames in memory at the same time.
  [[nodiscard]] int frames_kept() const { return kFramesKeptBehind + 1 + frames(); }
  /// The most pictures of host memory that a chain needs for these frames.
  [[nodiscard]] std::uint64_t host_pictures() const {
    if (!any()) return 0;
    // Each frame as it was, its padded planes, and a quarter of a picture for its motion; the averaged frame; the blocks' weights.
    const auto kept = static_cast<std::uint64_t>(frames_kept());
    return 9 * kept / 4 + 1 + kept / 10;
  }
};

}  // namespace c63
