#include "encode/encode_program.h"

#include <utility>

#include "common/video_input.h"
#include "io/source_parts.h"

namespace c63::tools {

EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                const std::function<void(const std::string&)>& warn) {
  SourceOptions source = options.source;
  source.stop = stop;
  source.warn = warn;
  EncodeSource opened;
  opened.frames = adapt(open_video(source), {.first = options.first_frame,
                                             .count = options.max_frames > 0 ? options.max_frames : -1,
                                             .stop = std::move(stop)});
  if (options.prefilter) {
    auto smoothed =
        std::make_unique<PrefilterSource>(std::move(opened.frames), *options.prefilter, source.limits.max_memory / 2);
    opened.bytes = smoothed->memory();
    opened.frames = std::move(smoothed);
  }
  return opened;
}

}  // namespace c63::tools
