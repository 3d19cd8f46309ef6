#pragma once

#include <algorithm>
#include <cstdint>

#include "c63/encoder.h"
#include "codec/geometry.h"
#include "decide/lookahead_decisions.h"
#include "decide/rate_decisions.h"

namespace c63 {

/// The settings of one encode, and everything that follows from them. It is made once, when the encode starts. After that, the
/// preset is not used any more.
struct ResolvedEncode {
  EncoderSettings settings;  ///< valid; execution.arena is set
  Geometry geometry;
  PlannerFactory planners;
  LookaheadDecisions lookahead;  ///< of the planners; only λ may differ between GOPs
  RateDecisions rate;            ///< of most frames; memory is reserved for them

  /// The bytes of one padded picture, all planes.
  [[nodiscard]] std::uint64_t picture_bytes() const { return geometry.padded_samples(); }
  /// The most bytes of host memory that a GOP chain on the CPU takes, without the look-ahead.
  [[nodiscard]] std::uint64_t chain_bytes() const {
    // Three inputs, two frames of 16-bit levels, reconstruction and reference, 16-bit sums for the search, and one for coded bytes
    // and small arrays. Decisions by rate need further sums.
    const std::uint64_t pictures = 12U + (rate.any() ? 3U : 0U) + (settings.measurement.keep_prediction ? 1U : 0U);
    return pictures * picture_bytes();
  }
  /// The bytes of host memory for a chain's look-ahead, unless the device keeps its frames.
  [[nodiscard]] std::uint64_t lookahead_bytes() const { return lookahead.host_pictures() * picture_bytes(); }
  /// The number of chains with `bytes` each that fit into half of the memory limit; may be 0.
  [[nodiscard]] std::uint64_t chains_in_half(std::uint64_t bytes) const { return settings.execution.limits.max_memory / 2 / bytes; }
  /// The bytes of one input frame.
  [[nodiscard]] std::uint64_t frame_bytes() const { return geometry.frame_bytes(); }
  /// The number of frames of input that cannot seek that may wait in memory: a quarter of the memory limit, at most 512 MiB.
  [[nodiscard]] std::int64_t read_ahead_frames() const {
    constexpr std::uint64_t kMost = std::uint64_t{512} << 20;
    const std::uint64_t bytes = std::min(kMost, settings.execution.limits.max_memory / 4);
    // A frame waits until its look-ahead has all its frames.
    const std::int64_t least = 2 + lookahead.frames();
    return std::max(least, static_cast<std::int64_t>(bytes / frame_bytes()));
  }
  /// Returns true if a GOP of input takes at most half of the memory limit.
  [[nodiscard]] bool holds_a_gop() const {
    return chains_in_half(frame_bytes()) >= static_cast<std::uint64_t>(settings.coding.key_interval);
  }
};

/// Resolves valid settings. Without an arena, they are given one. `planners` are the settings' preset's if they are empty.
[[nodiscard]] ResolvedEncode resolve(EncoderSettings settings, PlannerFactory planners = {});

}  // namespace c63
