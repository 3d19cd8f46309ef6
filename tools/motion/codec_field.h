#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "c63/frame_source.h"
#include "c63/picture.h"
#include "motion/motion_stream.h"

namespace c63::tools {

/// The codec's vector of each 8x8 block: of those from earlier frames whose block covers the middle of it, the last one.
/// SADs are in `reference`, whose edges are repeated outside of it.
[[nodiscard]] CodecField codec_field(std::span<const CodecVector> vectors, const ConstPlaneView& current,
                                     const ConstPlaneView& reference);

/// The sum of its SADs, over every fourth block each way where the picture is large.
[[nodiscard]] std::uint64_t codec_cost(std::span<const CodecVector> vectors, const ConstPlaneView& current,
                                       const ConstPlaneView& reference);

/// Predicts a frame in linear 4:2:0 layout by luma's vectors; chroma's are half of them.
void predict_frame(std::span<const std::uint8_t> reference, const PlaneBlocks& luma, const VideoFormat& format,
                   std::span<std::uint8_t> prediction);

}  // namespace c63::tools
