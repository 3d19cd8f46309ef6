#pragma once

#include <memory>
#include <string>

#include "c63/frame_source.h"

namespace c63::tools {

/// Opens a video: what open_frame_source() opens, and c63 streams, which are decoded. Where the format is automatic, a stream is
/// known by how it begins, whatever it is called; what is called .c63 and is no video that is known is taken for a damaged one.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(const SourceOptions& options);

/// Whether a regular file of that name begins like a c63 stream. Throws Error (input) where it cannot be read.
[[nodiscard]] bool is_stream_file(const std::string& path);

}  // namespace c63::tools
