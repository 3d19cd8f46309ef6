#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace c63::tools {

/// All of a regular file; nothing for a pipe, a device or a file of more than `most_bytes`. Throws Error (input).
[[nodiscard]] std::optional<std::string> text_of_file(const std::string& path, std::uint64_t most_bytes);

/// SHA-256 of the first bytes of a file, in hexadecimal digits. Throws Error (input, C63-INPUT-SHRUNK) if it has fewer.
[[nodiscard]] std::string sha256_of_file(const std::string& path, std::uint64_t bytes);

}  // namespace c63::tools
