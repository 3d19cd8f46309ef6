#pragma once

#include <memory>

#include "c63/frame_source.h"

namespace c63::tools {

/// Opens a video: what open_frame_source() opens, and c63 streams, which are decoded. Where the format is automatic, a stream is
/// known by how it begins, whatever it is called; what is called .c63 and is no video that is known is taken for a damaged one.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(const SourceOptions& options);

}  // namespace c63::tools
