#pragma once

#include <string>

namespace c63 {

/// Returns the size as text, for example "352x288".
[[nodiscard]] inline std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

/// Returns the part of the file's name after its last dot, in lower case; empty if there is no dot.
[[nodiscard]] inline std::string extension_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return {};
  std::string extension = path.substr(dot + 1);
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

}  // namespace c63
