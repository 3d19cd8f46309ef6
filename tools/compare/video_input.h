#pragma once

#include <memory>

#include "c63/frame_source.h"

namespace c63::tools {

/// Opens a video to compare: what open_frame_source() opens, and coded streams by their name (*.c63), which are decoded.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(const SourceOptions& options);

}  // namespace c63::tools
