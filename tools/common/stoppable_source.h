#pragma once

#include <memory>
#include <stop_token>

#include "c63/frame_source.h"

namespace c63::tools {

/// Returns a source whose read errors end the video normally if a stop was requested. The signal may also have ended the
/// program that writes to the input pipe, in the middle of a frame.
[[nodiscard]] std::unique_ptr<FrameSource> stoppable_source(std::unique_ptr<FrameSource> source, std::stop_token stop);

}  // namespace c63::tools
