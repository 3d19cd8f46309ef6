#pragma once

#include <memory>

#include "c63/frame_source.h"
#include "io/input_file.h"
#include "io/media_module.h"

// The functions with which open_frame_source() opens the formats of video files, and what these functions share.

namespace c63 {

/// Throws Error (usage, limit) if frames of this size cannot be coded or exceed the limits.
void check_picture_size(int width, int height, const Limits& limits, const std::string& file);

/// Calls options.warn, if it is set.
void warn(const SourceOptions& options, const std::string& message);

/// Does what open_frame_source(options) does, with an input that is already open and of which nothing has been read.
[[nodiscard]] std::unique_ptr<FrameSource> open_frame_source(std::unique_ptr<InputFile> file, const SourceOptions& options);

[[nodiscard]] std::unique_ptr<FrameSource> open_raw_source(std::unique_ptr<InputFile> file,
                                                           const SourceOptions& options);
[[nodiscard]] std::unique_ptr<FrameSource> open_y4m_source(std::unique_ptr<InputFile> file,
                                                           const SourceOptions& options);
/// Opens an input with FFmpeg. Loads c63's module for it; throws Error (input, C63-NO-FFMPEG) if that fails.
[[nodiscard]] std::unique_ptr<MediaSource> open_media_source(std::unique_ptr<InputFile> file,
                                                             const SourceOptions& options);

}  // namespace c63
