#pragma once

#include <cerrno>
#include <string>

#include "c63/error.h"
#include "ffmpeg/av_watch.h"

namespace c63 {

/// Throws Error (memory, or limit, C63-MAX-MEMORY) if FFmpeg ran out of memory: in a call that returned `code` and left
/// `system_code` in errno, or on a thread of the decoder's.
void check_av_memory(const AvWatch& watch, int code, int system_code, const ErrorPlace& place);

/// Calls FFmpeg: `call()` returns one of its codes, and so does this. Throws Error (memory) if an allocation failed in
/// it, whatever it returned: FFmpeg goes on with a frame or a setting less.
template <typename Call>
[[nodiscard]] int av_call(AvWatch& watch, const Call& call, const ErrorPlace& place) {
  const AvWatch::Use use(watch);
  errno = 0;
  const int code = call();
  check_av_memory(watch, code, errno, place);
  return code;
}

/// The error for a failed call: (input, `id`), or too many open files. With FFmpeg's words and what it logged last.
[[nodiscard]] Error av_fault(const AvWatch& watch, const char* id, const std::string& what, int code,
                             const ErrorPlace& place);

}  // namespace c63
