#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "files/output_file.h"
#include "pictures/image.h"

namespace c63::tools {

/// Loads FFmpeg, whose encoders write PNG and JPEG. Throws Error (usage, C63-NO-PNG) if it or one of the encoders is missing.
void require_png();

/// Returns a 4:2:0 frame (planes one after another, video range) as JPEG for viewing. If a side is odd, chroma has no
/// fixed row length, and the picture is grey. Throws Error if FFmpeg is missing.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> frame, int width, int height,
                                                    bool full_range = false);

/// Throws Error (usage) if save_picture() cannot write files with this extension. Call it before the picture is
/// computed.
void check_picture_name(const std::string& path);

/// Returns how many bytes save_picture() needs in addition to a picture of `image_bytes`.
[[nodiscard]] std::uint64_t memory_to_save(const std::string& path, std::uint64_t image_bytes);

/// Writes the picture as PNG or PPM, depending on the extension. Throws Error (usage) for other extensions, Error
/// (output).
void save_picture(const std::string& path, const Image& image, Durability durability = Durability::process);

}  // namespace c63::tools
