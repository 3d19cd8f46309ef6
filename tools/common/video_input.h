#pragma once

#include <memory>
#include <string>

#include "c63/frame_source.h"
#include "io/input_file.h"

namespace c63::tools {

/// Opens a video: any input of open_frame_source(), or a c63 stream, which is decoded. With the automatic format, a c63
/// stream is recognized by its first bytes, whatever the file's name is. A file named .c63 that begins neither like a
/// c63 stream nor like a Y4M video is treated as a damaged stream.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(const SourceOptions& options);
/// Opens a video in the same way from `file`, from which nothing may have been read before.
[[nodiscard]] std::unique_ptr<FrameSource> open_video(std::unique_ptr<InputFile> file, const SourceOptions& options);

/// Returns true if the input begins like a c63 stream. Also true if its name ends in .c63, unless it begins like a Y4M
/// video.
[[nodiscard]] bool is_stream(InputFile& file, const std::string& path);

/// Returns true if `path` is a regular file that begins like a c63 stream. Throws Error (input) if it cannot be read.
[[nodiscard]] bool is_stream_file(const std::string& path);

}  // namespace c63::tools
