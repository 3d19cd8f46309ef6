#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace c63 {

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
