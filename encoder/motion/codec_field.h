#pragma once

#include <cstdint>
#include <span>

#include "c63/film_motion.h"
#include "c63/frame_source.h"
#include "c63/picture.h"

namespace c63 {

/// Returns a vector for each 8x8 block from those that a film's codec has used. Only vectors to earlier frames count.
/// If several codec blocks cover the middle of an 8x8 block, the last one counts. SADs are measured in `reference`,
/// whose edge samples are repeated outside.
[[nodiscard]] CodecField codec_field(std::span<const CodecVector> vectors, const ConstPlaneView& current,
                                     const ConstPlaneView& reference);

/// Returns the sum of the SADs of codec_field(). In a picture wider than 640 samples, only every fourth block in each
/// direction is used.
[[nodiscard]] std::uint64_t codec_cost(std::span<const CodecVector> vectors, const ConstPlaneView& current,
                                       const ConstPlaneView& reference);

}  // namespace c63
