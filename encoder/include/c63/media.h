#pragma once

#include <cstdint>

// Settings of FFmpeg, which reads everything but raw video and Y4M. FFmpeg has one log and one limit for the whole
// process, so only programs should call these functions, not libraries. The functions do not load FFmpeg. If it is
// already loaded, their settings apply at once, otherwise when it is loaded.

namespace c63 {

/// Puts FFmpeg's error messages into the Error of the source that they are about, instead of writing them to standard
/// error. Messages for other users of FFmpeg in the process go to FFmpeg's default log. Without this call FFmpeg's log
/// does not change, and errors are less exact: a picture above Limits::max_pixels may be reported as damage.
void keep_media_messages();

/// Makes FFmpeg refuse every single allocation above `bytes`, in the whole process.
void limit_media_allocations(std::uint64_t bytes);

}  // namespace c63
