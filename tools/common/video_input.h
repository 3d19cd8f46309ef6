#pragma once

#include <memory>
#include <string>

#include "c63/frame_source.h"
#include "io/input_file.h"

namespace c63::tools {

/// Opens a video: anything that open_frame_source() opens, and c63 streams, which are decoded. If the format is
/// automatic, the first bytes show a stream, whatever its name is. A file .c63 that is not a known video counts as a
/// damaged stream.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(const SourceOptions& options);
/// The same for an input from which nothing has been read.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(std::unique_ptr<InputFile> file, const SourceOptions& options);

/// Whether an input begins like a c63 stream, or is called like one and begins like no video that is known without FFmpeg.
[[nodiscard]] bool is_stream(InputFile& file, const std::string& path);

/// Returns true if a regular file of that name begins like a c63 stream. Throws Error (input) if it cannot be read.
[[nodiscard]] bool is_stream_file(const std::string& path);

}  // namespace c63::tools
