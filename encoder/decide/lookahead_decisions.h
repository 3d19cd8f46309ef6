#pragma once

#include <cstdint>

#include "decide/cost.h"

namespace c63 {

/// How far errors are followed.
inline constexpr int kPropagationFrames = 8;
/// How many frames before and behind a frame it is averaged with.
inline constexpr int kFilterReach = 2;
/// So many frames before a frame may lie its reference.
inline constexpr int kMostFramesBack = 4;
/// Frames behind the one that is looked at which are kept, for the filter and as references.
inline constexpr int kFramesKeptBehind = kFilterReach > kMostFramesBack ? kFilterReach : kMostFramesBack;

/// What is decided by looking at frames of a GOP ahead of the one that is coded.
struct LookaheadDecisions {
  bool filter = false;     ///< frames are averaged with those around them (temporal_filter.h)
  bool propagate = false;  ///< error counts for as long as it will be seen (propagated_weights.h)
  bool choose_reference = false;  ///< frames may stay (reference_choice.h)
  Cost lambda = 0;

  friend bool operator==(const LookaheadDecisions&, const LookaheadDecisions&) = default;

  [[nodiscard]] bool any() const { return filter || propagate || choose_reference; }
  /// How many frames ahead of one have to be seen before it is coded.
  [[nodiscard]] int frames() const { return propagate ? kPropagationFrames : filter ? kFilterReach : choose_reference ? 1 : 0; }
  /// How many frames are there at the same time.
  [[nodiscard]] int frames_kept() const { return kFramesKeptBehind + 1 + frames(); }
  /// Pictures of memory that a chain takes for them at most, where they lie in the host's.
  [[nodiscard]] std::uint64_t host_pictures() const {
    if (!any()) return 0;
    // Each as it was, laid out, and a quarter of one for its motion; the averaged one, and what the blocks of all of them count.
    const auto kept = static_cast<std::uint64_t>(frames_kept());
    return 9 * kept / 4 + 1 + kept / 10;
  }
};

}  // namespace c63
