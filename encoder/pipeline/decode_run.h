#pragma once

#include <stop_token>

#include "c63/decoder.h"
#include "pipeline/frame_pipeline.h"
#include "pipeline/stream_reader.h"

namespace c63 {

/// A copy of what a view shows.
[[nodiscard]] DecodedFrame copy_of(const FrameView& view);

/// Decodes what `reader` reads and hands out the frames from settings.first_frame on, settings.max_frames at most. Throws
/// the first fault in order of the stream, after every frame before it has been handed out.
DecodeSummary decode_run(StreamReader& reader, FramePipeline& pipeline, const DecoderSettings& settings,
                         const Decoder::ViewSink& sink, const std::stop_token& stop);

}  // namespace c63
