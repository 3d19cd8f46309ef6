#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "c63/error.h"

// Functions for descriptors and the system's error codes, which all files and standard streams need.

namespace c63 {

[[nodiscard]] inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The most bytes that one call reads or writes. Linux allows almost twice as many.
inline constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

/// Writes all of `bytes`, and waits if a non-blocking descriptor is full. Returns 0 or the system's error code. Adds
/// the number of written bytes to `written`, even if there is an error.
[[nodiscard]] int write_all(int descriptor, std::span<const std::uint8_t> bytes, std::uint64_t& written) noexcept;

/// Reads as ::read() does, but waits if a non-blocking descriptor has no data yet. Returns -1 with errno set if there
/// is an error.
[[nodiscard]] std::ptrdiff_t read_some(int descriptor, std::span<std::uint8_t> bytes) noexcept;

[[nodiscard]] bool is_open_for_reading(int descriptor) noexcept;
[[nodiscard]] bool is_open_for_writing(int descriptor) noexcept;

/// Opens /dev/null for each of standard input, output and error that is closed. Otherwise a file that is opened later
/// would get its number. Standard input and output are opened for the wrong direction, so using them still fails. Call
/// it before anything else. Returns false if /dev/null cannot be opened.
[[nodiscard]] bool fill_standard_descriptors() noexcept;

/// Makes the error for a failed system call, whose error code is `code`. It has `kind` and `id`, except if files,
/// threads or memory ran out. Then it is a limit (C63-OPEN-FILES, C63-THREADS) or a memory error (C63-MEMORY).
[[nodiscard]] Error system_fault(ErrorKind kind, const char* id, const std::string& what, int code,
                                 const ErrorPlace& place = {});

}  // namespace c63
