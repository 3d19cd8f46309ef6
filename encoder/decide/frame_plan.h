#pragma once

#include <cstdint>
#include <memory>

#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/frame_weights.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// Everything that was decided for one frame before it is encoded: data that a planner makes and a backend carries out.
/// Nothing else decides, so equal plans and samples give equal bytes on every backend.
struct FramePlan {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< predicts from nothing, and starts a GOP
  QuantizationTables tables{};  ///< of Y, U and V; no zeros
  FrameHeaders headers = {};
  RateDecisions rate = {};
  /// How much error counts in each MCU of a frame that is decided by rate; null: alike.
  std::shared_ptr<const FrameWeights> weights = {};

  /// Whether the picture of the frame before becomes the reference. Where it does not, the frame is predicted from the same
  /// reference as the frame before, and its picture takes that frame's place.
  [[nodiscard]] bool advances_reference() const { return headers.frame; }
};

}  // namespace c63
