#include "encode/encode_source.h"

#include <utility>

#include "common/video_input.h"

namespace c63::tools {

EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                const std::function<void(const std::string&)>& warn) {
  SourceOptions source = options.source;
  source.stop = stop;
  source.warn = warn;
  EncodeSource opened;
  opened.frames =
      clip_frames(open_video(source), options.first_frame, options.max_frames > 0 ? options.max_frames : -1);
  if (options.prefilter) {
    auto smoothed =
        std::make_unique<PrefilterSource>(std::move(opened.frames), *options.prefilter, source.limits.max_memory / 2);
    opened.bytes = smoothed->memory();
    opened.frames = std::move(smoothed);
  }
  opened.frames = stoppable_source(std::move(opened.frames), std::move(stop));
  return opened;
}

}  // namespace c63::tools
