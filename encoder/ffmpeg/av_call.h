#pragma once

#include <cerrno>
#include <string>

#include "c63/error.h"
#include "ffmpeg/av_watch.h"

namespace c63 {

/// Throws an Error if FFmpeg ran out of memory, either in a call that returned `code` and set errno to `system_code`,
/// or on a decoder thread. It is Error (memory), or Error (limit, C63-MAX-MEMORY) if a limit was the cause.
void check_av_memory(const AvWatch& watch, int code, int system_code, const ErrorPlace& place);

/// Calls FFmpeg and returns what `call()` returned. Throws what check_av_memory() throws if a memory allocation in it
/// failed. This is checked even if `call()` returned success, because FFmpeg may have continued without a frame or a
/// setting.
template <typename Call>
[[nodiscard]] int av_call(AvWatch& watch, const Call& call, const ErrorPlace& place) {
  const AvWatch::Use use(watch);
  errno = 0;
  const int code = call();
  check_av_memory(watch, code, errno, place);
  return code;
}

/// Returns the error for a failed call: Error (input, `id`), or a limit (C63-OPEN-FILES) if too many files are open.
/// The message includes FFmpeg's text for `code` and the last line that FFmpeg logged.
[[nodiscard]] Error av_fault(const AvWatch& watch, const char* id, const std::string& what, int code,
                             const ErrorPlace& place);

}  // namespace c63
