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
  /// Nothing is coded: the previous picture is shown again. Such a frame is no key frame, and it is planned as one that may become a
  /// repeat by rate.
  bool repeat = false;
  QuantizationTables tables{};  ///< of Y, U and V; no zeros
  FrameHeaders headers = {};
  RateDecisions rate = {};
  /// The weight of each MCU's error in a frame that is decided by rate; null: all equal.
  std::shared_ptr<const FrameWeights> weights = {};

  /// Returns true if the previous picture becomes the reference. Otherwise this frame has the same reference as the previous
  /// one, and its picture replaces that frame's.
  [[nodiscard]] bool advances_reference() const { return headers.frame; }
};

}  // namespace c63
