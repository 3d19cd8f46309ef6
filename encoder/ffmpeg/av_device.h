#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "c63/film_device.h"

// Decoding on a GPU by FFmpeg's CUDA acceleration (NVDEC).

namespace c63 {

/// Returns why the CPU decodes a stream with these parameters, or null if a GPU may decode it. A GPU gets only streams
/// that it decodes to the same samples as FFmpeg's own decoder: usual profiles of four codecs, with 8 bits.
[[nodiscard]] const char* obstacle_on_device(const AVCodecParameters& parameters);

/// Returns FFmpeg's decoder that can use a GPU, or null.
[[nodiscard]] const AVCodec* find_device_decoder(AVCodecID id);

/// Makes a decoder that is not open yet decode on `device`, and nowhere else. Returns FFmpeg's code.
[[nodiscard]] int use_device(AVCodecContext& codec, FilmDevice& device);

/// Returns why the CPU must decode a frame that a GPU has decoded, or null if the frame can be used.
[[nodiscard]] const char* obstacle_in_frame(const AVCodecContext& codec, const AVFrame& frame);

}  // namespace c63
