#pragma once

#include <cstdint>
#include <optional>

#include "c63/settings.h"
#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/cost.h"
#include "decide/frame_plan.h"

namespace c63 {

/// Errors of a frame spread to later frames that are predicted from it. They are followed through this many later
/// frames.
inline constexpr int kPropagationFrames = 8;
/// A frame is averaged with up to this many frames before it, and as many after it.
inline constexpr int kFilterReach = 2;
/// The longest distance from a frame to the reference that the look-ahead chooses for it, in frames.
inline constexpr int kMostFramesBack = 4;
/// The number of previous frames that are kept, for the filter and as references.
inline constexpr int kFramesKeptBehind = kFilterReach > kMostFramesBack ? kFilterReach : kMostFramesBack;

/// What the look-ahead of a GOP does before frames are coded.
struct LookaheadDecisions {
  bool filter = false;     ///< averages frames with their neighbours (temporal_filter.h)
  bool propagate = false;  ///< weights errors by how many later frames will show them (propagated_weights.h)
  bool choose_reference = false;  ///< lets frames use the previous frame's reference (reference_choice.h)
  Cost lambda = 0;

  friend bool operator==(const LookaheadDecisions&, const LookaheadDecisions&) = default;

  [[nodiscard]] bool any() const { return filter || propagate || choose_reference; }
  /// The number of later frames that must have been read before a frame is coded.
  [[nodiscard]] int frames() const { return propagate ? kPropagationFrames : filter ? kFilterReach : choose_reference ? 1 : 0; }
  /// The number of frames that are kept in memory at the same time.
  [[nodiscard]] int frames_kept() const { return kFramesKeptBehind + 1 + frames(); }
  /// The most host memory that a chain needs for its look-ahead, in padded pictures.
  [[nodiscard]] std::uint64_t host_pictures() const {
    if (!any()) return 0;
    // Each kept frame takes 2.25 pictures: its source, its padded planes, and a quarter of a picture for its motion.
    // The weights of its blocks take a tenth of a picture. One more picture is for an averaged frame.
    const auto kept = static_cast<std::uint64_t>(frames_kept());
    return 9 * kept / 4 + 1 + kept / 10;
  }
};

/// The decisions that the settings fix for all key frames and for all inter frames.
struct PresetDecisions {
  QuantizationTables tables{};
  std::optional<QuantizationTables> finer_tables;  ///< for key frames whose errors will be visible for long
  FrameHeaders key_headers;
  FrameHeaders inter_headers;
  RateDecisions rate;
  double lambda_power = -1.2;  ///< λ is proportional to this power of the quality, except at the lowest ones
  LookaheadDecisions lookahead;
  /// Single frames may do without RateDecisions::activity_power.
  bool may_ignore_activity = false;
  /// Every second frame uses the previous frame's reference, as long as that saves bits (reference_alternation.h).
  bool alternate = false;

  friend bool operator==(const PresetDecisions&, const PresetDecisions&) = default;
};

[[nodiscard]] PresetDecisions preset_decisions(const CodingSettings& settings);

}  // namespace c63
