#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace c63 {

[[nodiscard]] inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Writes all of `bytes`, and waits if a non-blocking descriptor is full. Returns 0 or the system's error code. Adds
/// the number of written bytes to `written`, even if there is an error.
[[nodiscard]] int write_all(int descriptor, std::span<const std::uint8_t> bytes, std::uint64_t& written) noexcept;

[[nodiscard]] bool is_open_for_writing(int descriptor) noexcept;

/// Opens /dev/null for each of standard input, output and error that is closed. Otherwise a file that is opened later
/// would get its number. Standard input and output are opened for the wrong direction, so using them still fails. Call
/// it before anything else. Returns false if /dev/null cannot be opened.
[[nodiscard]] bool fill_standard_descriptors() noexcept;

}  // namespace c63
