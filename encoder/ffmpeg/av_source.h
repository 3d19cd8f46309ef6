#pragma once

#include <memory>

#include "io/media_module.h"

namespace c63 {

/// Opens the best video stream of a file; FFmpeg decodes its frames. Throws Error.
[[nodiscard]] std::unique_ptr<MediaSource> open_av_source(std::unique_ptr<MediaInput> input,
                                                          const SourceOptions& options);

}  // namespace c63
