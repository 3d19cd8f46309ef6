#pragma once

#include <cstddef>
#include <string>

#include "c63/error.h"

namespace c63 {

/// The most bytes that one call reads or writes. Linux allows almost twice as many.
inline constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

/// Makes the error for a failed system call, whose error code is `code`. It has `kind` and `id`, except if files,
/// threads or memory ran out. Then it is a limit (C63-OPEN-FILES, C63-THREADS) or a memory error (C63-MEMORY).
[[nodiscard]] Error system_fault(ErrorKind kind, const char* id, const std::string& what, int code,
                                 const ErrorPlace& place = {});

}  // namespace c63
