#pragma once

#include <optional>

#include "c63/settings.h"
#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/lookahead_decisions.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// What a preset and the other settings decide for all frames of a kind.
struct PresetDecisions {
  QuantizationTables tables{};
  std::optional<QuantizationTables> finer_tables;  ///< of key frames whose errors will be seen long
  FrameHeaders key_headers;
  FrameHeaders inter_headers;
  RateDecisions rate;
  double lambda_power = -1.2;  ///< λ is proportional to this power of the quality
  LookaheadDecisions lookahead;
  bool alternate = false;  ///< every second frame stays if that pays (reference_alternation.h)

  friend bool operator==(const PresetDecisions&, const PresetDecisions&) = default;
};

[[nodiscard]] PresetDecisions preset_decisions(const CodingSettings& settings);

}  // namespace c63
