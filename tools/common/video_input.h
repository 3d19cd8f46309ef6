#pragma once

#include <memory>
#include <string>

#include "c63/frame_source.h"

namespace c63::tools {

/// Opens a video: anything that open_frame_source() opens, and c63 streams, which are decoded. If the format is
/// automatic, the first bytes show a stream, whatever its name is. A file .c63 that is not a known video counts as a
/// damaged stream.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(const SourceOptions& options);

/// Returns true if a regular file of that name begins like a c63 stream. Throws Error (input) if it cannot be read.
[[nodiscard]] bool is_stream_file(const std::string& path);

}  // namespace c63::tools
