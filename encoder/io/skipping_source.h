#pragma once

#include <memory>

#include "c63/frame_source.h"
#include "io/media_module.h"

namespace c63 {

/// Makes a source that skips frames with the help of options.seek_table. It returns the same frames as a source that
/// reads in order: each frame after a skip is compared with its checksum in the table. If one differs or is missing,
/// the file is read again from its start, with a warning.
[[nodiscard]] std::unique_ptr<FrameSource> make_skipping_source(std::unique_ptr<MediaSource> source,
                                                                const SourceOptions& options);

}  // namespace c63
