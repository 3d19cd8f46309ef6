#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

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

/// Returns true if files with this lower-case extension are not raw frames: they are containers, coded streams, images
/// or Y4M.
[[nodiscard]] constexpr bool is_container_extension(std::string_view extension) {
  constexpr std::array<std::string_view, 51> kExtensions = {
    "mp4", "m4v", "mov", "mkv", "webm", "avi", "264", "h264", "avc", "26l", "265", "h265", "hevc", "ivf", "obu",
    "av1", "ts", "m2ts", "mts", "mpg", "mpeg", "m2v", "m1v", "vob", "ogv", "ogg", "flv", "gif", "png", "jpg", "jpeg",
    "mjpg", "apng", "webp", "tif", "bmp", "tiff", "wmv", "asf", "3gp", "3g2", "mxf", "nut", "dv", "h263", "263",
    "mjpeg", "y4m", "rm", "divx", "c63"};
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

}  // namespace c63
