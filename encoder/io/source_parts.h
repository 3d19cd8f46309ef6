#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/frame_source.h"
#include "io/input_file.h"

// The functions with which open_frame_source() opens the formats of video files, and what these functions share.

namespace c63 {

/// Throws Error (usage, limit) if frames of this size cannot be coded or exceed the limits.
void check_picture_size(int width, int height, const Limits& limits, const std::string& file);

/// Calls options.warn, if it is set.
void warn(const SourceOptions& options, const std::string& message);

/// Returns the words of a file's name, without its folder, in lower case. A word consists of letters and digits.
[[nodiscard]] std::vector<std::string> words_of(const std::string& path);

/// Does what open_frame_source(options) does, with an input that is already open and of which nothing has been read.
[[nodiscard]] std::unique_ptr<FrameSource> open_frame_source(std::unique_ptr<InputFile> file, const SourceOptions& options);

/// The functions that open an input in one of the formats. open_media_source() loads c63's module for FFmpeg, and throws Error
/// (input, C63-NO-FFMPEG) if that fails.
#define C63_SOURCE_FORMAT(format, text, open) \
  [[nodiscard]] std::unique_ptr<FrameSource> open(std::unique_ptr<InputFile> file, const SourceOptions& options);
#include "c63/source_formats.inc"
#undef C63_SOURCE_FORMAT

/// What adapt() changes about a source.
struct SourceAdaptation {
  std::int64_t first = 0;   ///< number of the frame that becomes frame 0
  std::int64_t count = -1;  ///< most frames; -1: all
  bool has_count = false;   ///< it is known that the source has `count` frames, even if the source does not know
  /// After a stop request, an error of the source ends the video normally. The signal may also have ended the program
  /// that writes to the input pipe, in the middle of a frame.
  std::stop_token stop = {};
  std::function<void(std::int64_t index)> take = {};  ///< called after each frame that was read
  /// The next frame of a source that cannot seek, if several adapted sources use it one after another. Null: 0.
  std::int64_t* position = nullptr;
};
[[nodiscard]] std::unique_ptr<FrameSource> adapt(std::shared_ptr<FrameSource> source, SourceAdaptation how);

/// Copies `from` to the start of `to`. Several threads copy a large span, because one thread cannot use the memory's
/// full rate. The copy goes through the caches, so that a device can fetch it from there. A copy past the caches would
/// need twice as many transfers on the memory bus. That bus is the bottleneck if several devices get frames.
void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to);

}  // namespace c63
