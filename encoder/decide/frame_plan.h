#pragma once

#include <cstdint>
#include <memory>

#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/frame_weights.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// All decisions that are made for one frame before it is encoded. A planner makes the plan, and a backend carries it
/// out. So equal plans and samples give equal bytes on every backend.
struct FramePlan {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< coded without prediction; starts a GOP
  /// Nothing is coded: the previous picture is shown again. The frame must not be a key frame. `rate` must have a λ
  /// above 0 and allow repeats.
  bool repeat = false;
  QuantizationTables tables{};  ///< of Y, U and V; no zeros
  FrameHeaders headers = {};
  RateDecisions rate = {};
  /// The weights of the MCUs' errors by how long they remain visible. They are used only if `rate` decides by D + λR.
  /// Null: no such weights. Then only rate.activity_power may make the errors of some MCUs count less.
  std::shared_ptr<const FrameWeights> weights = {};

  /// Returns true if the previous frame's picture becomes the reference. False: this frame is predicted from the same
  /// reference as the previous frame, and its picture replaces that frame's.
  [[nodiscard]] bool advances_reference() const { return headers.frame; }
};

}  // namespace c63
