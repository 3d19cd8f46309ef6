#pragma once

#include <algorithm>
#include <cstdint>

#include "c63/encoder.h"
#include "codec/geometry.h"
#include "decide/lookahead_decisions.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// One encode as it is carried out: settings, and all that follows from them. It is made once, when the encode starts. After that,
/// nobody asks which preset was chosen.
struct ResolvedEncode {
  EncoderSettings settings;  ///< valid; execution.arena is set
  Geometry geometry;
  PlannerFactory planners;
  LookaheadDecisions lookahead;  ///< of the planners. Which frames are looked at is the same in all GOPs; λ may differ
  RateDecisions rate;            ///< what most frames are decided by; memory is reserved for it

  /// Bytes of one padded picture, all planes.
  [[nodiscard]] std::uint64_t picture_bytes() const { return geometry.padded_samples(); }
  /// Bytes of host memory that a GOP chain on the CPU takes at most, without the frames that it looks at ahead.
  [[nodiscard]] std::uint64_t chain_bytes() const {
    // Three inputs, two frames of 16-bit levels, reconstruction and reference, 16-bit sums for the search, and one for what is
    // small or coded. Decisions by rate have sums of their own.
    const std::uint64_t pictures = 12U + (rate.any() ? 3U : 0U) + (settings.measurement.keep_prediction ? 1U : 0U);
    return pictures * picture_bytes();
  }
  /// Bytes of host memory for the frames that a chain looks at ahead, unless the device keeps them.
  [[nodiscard]] std::uint64_t lookahead_bytes() const { return lookahead.host_pictures() * picture_bytes(); }
  /// How many chains fit into half of the memory limit at `bytes` each; from 0.
  [[nodiscard]] std::uint64_t chains_in_half(std::uint64_t bytes) const { return settings.execution.limits.max_memory / 2 / bytes; }
  /// Bytes of one frame of input.
  [[nodiscard]] std::uint64_t frame_bytes() const { return geometry.frame_bytes(); }
  /// How many frames of input that cannot seek may wait in memory: a quarter of the memory limit, no more than is of use.
  [[nodiscard]] std::int64_t read_ahead_frames() const {
    constexpr std::uint64_t kMost = std::uint64_t{512} << 20;
    const std::uint64_t bytes = std::min(kMost, settings.execution.limits.max_memory / 4);
    // A frame waits for all that it is looked at with.
    const std::int64_t least = 2 + lookahead.frames();
    return std::max(least, static_cast<std::int64_t>(bytes / frame_bytes()));
  }
  /// Whether a GOP of input takes no more than half of the memory limit.
  [[nodiscard]] bool holds_a_gop() const {
    return chains_in_half(frame_bytes()) >= static_cast<std::uint64_t>(settings.coding.key_interval);
  }
};

/// Resolves valid settings. Without an arena, they are given one. `planners` are the settings' preset's if they are empty.
[[nodiscard]] ResolvedEncode resolve(EncoderSettings settings, PlannerFactory planners = {});

}  // namespace c63
