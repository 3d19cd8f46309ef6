#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace c63::tools {

/// Returns the content of a regular file. Returns nothing for a pipe, a device, or a file of more than `most_bytes`.
/// Throws Error (input).
[[nodiscard]] std::optional<std::string> text_of_file(const std::string& path, std::uint64_t most_bytes);

/// Returns the SHA-256 of the first `bytes` bytes of a file, in hexadecimal digits. Throws Error (input,
/// C63-INPUT-SHRUNK) if the file is shorter.
[[nodiscard]] std::string sha256_of_file(const std::string& path, std::uint64_t bytes);

}  // namespace c63::tools
