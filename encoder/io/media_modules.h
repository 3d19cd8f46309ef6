#pragma once

#include <string>

#include "io/media_module.h"

namespace c63 {

/// Returns the module for FFmpeg. The first call loads it from `folder`, or if that is empty, from where c63 is
/// installed or was built. Throws Error (input, C63-NO-FFMPEG) if the module or a library that it needs is missing, or
/// if its version differs. Any number of threads may call it at once.
[[nodiscard]] const MediaModule& ffmpeg_module(const std::string& folder = {});

}  // namespace c63
