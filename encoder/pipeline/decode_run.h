#pragma once

#include <stop_token>

#include "c63/decoder.h"
#include "pipeline/frame_pipeline.h"
#include "pipeline/stream_reader.h"

namespace c63 {

/// Returns a copy of the frame that a view shows.
[[nodiscard]] DecodedFrame copy_of(const FrameView& view);

/// Decodes the stream of `reader`. Hands out the frames from settings.first_frame on, no more than settings.max_frames. Throws the
/// stream's first error after it has handed out all frames before it.
DecodeSummary decode_run(StreamReader& reader, FramePipeline& pipeline, const DecoderSettings& settings,
                         const Decoder::ViewSink& sink, const std::stop_token& stop);

}  // namespace c63
