#pragma once

#include <cstdint>
#include <memory>

#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/frame_weights.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// Everything that is decided for one frame before it is encoded: a planner makes it and a backend carries it out. Nothing else
/// decides, so equal plans and samples give equal bytes on every backend.
struct FramePlan {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< coded without prediction; starts a GOP
  QuantizationTables tables{};  ///< of Y, U and V; no zeros
  FrameHeaders headers = {};
  RateDecisions rate = {};
  /// The weight of each MCU's error in a frame that is decided by rate; null: all equal.
  std::shared_ptr<const FrameWeights> weights = {};

  /// Returns true if the previous frame's picture becomes the reference. Otherwise this frame uses the same reference as the
  /// previous frame, and overwrites the previous frame's picture.
  [[nodiscard]] bool advances_reference() const { return headers.frame; }
};

}  // namespace c63
