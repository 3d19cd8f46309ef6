#pragma once

#include <cerrno>
#include <string>

#include "c63/error.h"

namespace c63 {

/// Whether FFmpeg ran out of memory: in a call that returned `code` and left `system_code` in errno, or on a thread of its
/// own.
[[nodiscard]] bool is_av_memory_fault(int code, int system_code);

/// Calls FFmpeg: `call()` returns one of its codes, and so does this. Throws Error (memory) where an allocation failed in it,
/// whatever it returned: FFmpeg goes on with a frame or a setting less.
template <typename Call>
[[nodiscard]] int av_call(const Call& call, const ErrorPlace& place) {
  errno = 0;
  const int code = call();
  if (is_av_memory_fault(code, errno)) {
    throw Error(ErrorKind::memory, "C63-MEMORY", "FFmpeg ran out of memory", place);
  }
  return code;
}

/// The error for a failed call: (input, `id`), or too many open files. With FFmpeg's words and what it logged last.
[[nodiscard]] Error av_fault(const char* id, const std::string& what, int code, const ErrorPlace& place);

}  // namespace c63
