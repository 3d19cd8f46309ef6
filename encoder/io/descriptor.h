#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "c63/error.h"

// What all files and standard streams have in common: descriptors and the system's error codes.

namespace c63 {

[[nodiscard]] inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Linux transfers no more than this in one call.
inline constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

/// Writes all of `bytes`, waiting where a non-blocking descriptor can take no more yet. Returns 0 or the system's error
/// code; `written` grows by what was written before it.
[[nodiscard]] int write_all(int descriptor, std::span<const std::uint8_t> bytes, std::uint64_t& written) noexcept;

/// Reads as ::read() does, waiting where a non-blocking descriptor has nothing yet. Returns -1 with errno set.
[[nodiscard]] std::ptrdiff_t read_some(int descriptor, std::span<std::uint8_t> bytes) noexcept;

[[nodiscard]] bool is_open_for_reading(int descriptor) noexcept;
[[nodiscard]] bool is_open_for_writing(int descriptor) noexcept;

/// Puts /dev/null where standard input, output or error is closed, so that no file opened later takes its number; opened
/// the wrong way round, so that reading such an input or writing such an output still fails. To be called before anything
/// else. False where that is impossible.
[[nodiscard]] bool fill_standard_descriptors() noexcept;

/// The error for a failed system call: `kind` and `id`, unless `code` says that files, threads or memory ran short
/// (limit, C63-OPEN-FILES and C63-THREADS; memory, C63-MEMORY).
[[nodiscard]] Error system_fault(ErrorKind kind, const char* id, const std::string& what, int code,
                                 const ErrorPlace& place = {});

}  // namespace c63
