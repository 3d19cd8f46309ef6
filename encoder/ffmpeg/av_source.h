#pragma once

#include <memory>

#include "io/media_module.h"

namespace c63 {

/// The frames of a file's best video stream, decoded by FFmpeg. Throws Error.
[[nodiscard]] std::unique_ptr<MediaSource> open_av_source(std::unique_ptr<MediaInput> input,
                                                          const SourceOptions& options);

}  // namespace c63
