#pragma once

#include <stop_token>

#include "c63/decoder.h"
#include "decode/frame_pipeline.h"
#include "decode/stream_reader.h"

namespace c63 {

/// Returns a copy of the frame that a view shows.
[[nodiscard]] DecodedFrame copy_of(const FrameView& view);

/// Decodes the stream of `reader`. `sink` receives the frames from settings.first_frame on, at most
/// settings.max_frames. With settings.key_frames_only, it receives only the key frames among them. If the stream has an
/// error, throws it after `sink` has received all frames before it.
DecodeSummary decode_run(StreamReader& reader, FramePipeline& pipeline, const DecoderSettings& settings,
                         const Decoder::ViewSink& sink, const std::stop_token& stop);

}  // namespace c63
