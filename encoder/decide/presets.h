#pragma once

#include <optional>

#include "c63/settings.h"
#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/lookahead_decisions.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// The decisions that the settings fix for all key frames and for all inter frames.
struct PresetDecisions {
  QuantizationTables tables{};
  std::optional<QuantizationTables> finer_tables;  ///< for key frames whose errors will be visible for long
  FrameHeaders key_headers;
  FrameHeaders inter_headers;
  RateDecisions rate;
  double lambda_power = -1.2;  ///< λ is proportional to this power of the quality
  LookaheadDecisions lookahead;
  /// Single frames may do without RateDecisions::activity_power.
  bool may_ignore_activity = false;
  /// Every second frame uses the previous frame's reference, as long as that saves bits (reference_alternation.h).
  bool alternate = false;

  friend bool operator==(const PresetDecisions&, const PresetDecisions&) = default;
};

[[nodiscard]] PresetDecisions preset_decisions(const CodingSettings& settings);

}  // namespace c63
