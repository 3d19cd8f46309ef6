#pragma once

#include <algorithm>
#include <cstdint>

#include "c63/encoder.h"
#include "codec/geometry.h"
#include "decide/presets.h"
#include "decide/frame_plan.h"

namespace c63 {

/// The settings of one encode, with everything that follows from them. It is made once, when the encode starts. After
/// that, the preset is read only to estimate how long the encode takes.
struct ResolvedEncode {
  EncoderSettings settings;  ///< valid; execution.pool is set
  Geometry geometry;
  PlannerFactory planners;
  LookaheadDecisions lookahead;  ///< what the planners' look-ahead does; only λ may differ between GOPs
  RateDecisions rate;            ///< decisions in most frames; memory is reserved for these

  /// The bytes of one padded picture, all planes.
  [[nodiscard]] std::uint64_t picture_bytes() const { return geometry.padded_samples(); }
  /// The most bytes of host memory that a GOP chain on the CPU takes, without the look-ahead.
  [[nodiscard]] std::uint64_t chain_bytes() const {
    // Counted in pictures, which are 12: three inputs; four for two frames of 16-bit levels; two for reconstruction and
    // reference; two for 16-bit sums of the search; one for coded bytes and small arrays. Decisions by rate need three
    // more, and a kept prediction one.
    const std::uint64_t pictures = 12U + (rate.any() ? 3U : 0U) + (settings.measurement.keep_prediction ? 1U : 0U);
    return pictures * picture_bytes();
  }
  /// The bytes of host memory for a chain's look-ahead, unless the device keeps its frames.
  [[nodiscard]] std::uint64_t lookahead_bytes() const { return lookahead.host_pictures() * picture_bytes(); }
  /// The number of chains with `bytes` each that fit into half of the memory limit; may be 0.
  [[nodiscard]] std::uint64_t chains_in_half(std::uint64_t bytes) const { return settings.execution.limits.max_memory / 2 / bytes; }
  /// The bytes of one input frame.
  [[nodiscard]] std::uint64_t frame_bytes() const { return geometry.frame_bytes(); }
  /// The bytes of the pictures that the sink gets with each frame.
  [[nodiscard]] std::uint64_t kept_bytes() const {
    const MeasurementSettings& m = settings.measurement;
    return frame_bytes() * ((m.keep_reconstruction ? 1U : 0U) + (m.keep_prediction ? 1U : 0U));
  }
  /// The most frames that wait in memory if the source cannot seek. They take a quarter of the memory limit, or 512 MiB
  /// if that is less.
  [[nodiscard]] std::int64_t read_ahead_frames() const {
    constexpr std::uint64_t kMost = std::uint64_t{512} << 20;
    const std::uint64_t bytes = std::min(kMost, settings.execution.limits.max_memory / 4);
    // Always at least: one frame, the later frames that its look-ahead needs, and one more frame.
    const std::int64_t least = 2 + lookahead.frames();
    return std::max(least, static_cast<std::int64_t>(bytes / frame_bytes()));
  }
  /// Returns true if the input frames of one GOP take at most half of the memory limit.
  [[nodiscard]] bool holds_a_gop() const {
    return chains_in_half(frame_bytes()) >= static_cast<std::uint64_t>(settings.coding.key_interval);
  }
};

/// Resolves settings, which must be valid. If they have no pool, a new one is made. Empty `planners` are replaced by
/// those of the settings' preset.
[[nodiscard]] ResolvedEncode resolve(EncoderSettings settings, PlannerFactory planners = {});

}  // namespace c63
