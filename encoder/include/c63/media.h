#pragma once

#include <cstdint>

// What a program may set of FFmpeg, which reads whatever is neither raw nor Y4M. FFmpeg has one log and one limit for
// its whole process, so a program calls these, and a library never does. They load nothing: they hold from when FFmpeg
// is loaded.

namespace c63 {

/// From now on FFmpeg's errors are told in the Error of the source that they are about, instead of on standard error.
/// What FFmpeg logs for others in the process goes to its default log. Without this call FFmpeg's log stays as the
/// process has it. Errors are then less exact: a picture above Limits::max_pixels may count as damage.
void keep_media_messages();

/// FFmpeg refuses to allocate more than `bytes` at once, for anybody in the process.
void limit_media_allocations(std::uint64_t bytes);

}  // namespace c63
