#pragma once

#include <memory>

#include "c63/frame_source.h"
#include "io/media_module.h"

namespace c63 {

/// Makes a source that seeks by options.seek_table. Its frames equal those of a reading in order, because each is compared with the
/// table. If one differs or is missing, the file is read again from its start, with a warning.
[[nodiscard]] std::unique_ptr<FrameSource> make_skipping_source(std::unique_ptr<MediaSource> source,
                                                                const SourceOptions& options);

}  // namespace c63
