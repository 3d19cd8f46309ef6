#pragma once

#include <memory>

#include "c63/frame_source.h"
#include "io/media_module.h"

namespace c63 {

/// A container that is entered where options.seek_table says. Whatever FFmpeg finds there, the frames are those of a reading
/// in order: each is compared with the table, and where one differs or is missing the file is read again from its start,
/// with a warning.
[[nodiscard]] std::unique_ptr<FrameSource> make_skipping_source(std::unique_ptr<MediaSource> source,
                                                                const SourceOptions& options);

}  // namespace c63
