#pragma once

#include <cstdint>

// Settings of FFmpeg, which reads everything but raw video and Y4M. FFmpeg has one log and one limit for the whole process, so
// only programs should call these functions, not libraries. They do not load FFmpeg. They take effect when it is loaded.

namespace c63 {

/// Reports FFmpeg's errors in the Error of the source that they concern, instead of on standard error. Messages for other
/// users of FFmpeg in the process go to its default log. Without this call FFmpeg's log does not change, and errors are less
/// exact: a picture above Limits::max_pixels may count as damage.
void keep_media_messages();

/// Makes FFmpeg refuse any single allocation above `bytes`, for the whole process.
void limit_media_allocations(std::uint64_t bytes);

}  // namespace c63
