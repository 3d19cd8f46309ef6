#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/frame_weights.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// One byte for each block of a frame, 0 or 1: the blocks of Y, then U, then V, each plane in raster order.
using BlockMask = std::vector<std::uint8_t>;

/// Everything that is decided for one frame before it is encoded: a planner makes it and a backend carries it out. Nothing else
/// decides, so equal plans and samples give equal bytes on every backend.
struct FramePlan {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< coded without prediction; starts a GOP
  QuantizationTables tables{};  ///< of Y, U and V; no zeros
  FrameHeaders headers = {};
  /// The blocks of an inter frame that are coded without a vector, predicted from zero; null: none.
  std::shared_ptr<const BlockMask> unpredicted = {};
  RateDecisions rate = {};
  /// The weight of each MCU's error in a frame that is decided by rate; null: all equal.
  std::shared_ptr<const FrameWeights> weights = {};

  /// Returns true if the previous picture becomes the reference. Otherwise this frame has the same reference as the previous one, and
  /// its picture replaces that frame's.
  [[nodiscard]] bool advances_reference() const { return headers.frame; }
};

}  // namespace c63
