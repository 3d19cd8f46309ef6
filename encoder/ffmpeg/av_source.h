#pragma once

#include <memory>

#include "io/media_module.h"

namespace c63 {

/// Opens the video stream of a file, or if it has several, the one that FFmpeg takes for the best. FFmpeg decodes its
/// frames. Throws Error.
[[nodiscard]] std::unique_ptr<MediaSource> open_av_source(std::unique_ptr<MediaInput> input,
                                                          const SourceOptions& options);

}  // namespace c63
