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
[[nodiscard]] bool can_write_png();

/// Returns the picture as PNG. Throws Error if FFmpeg is missing.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

/// Returns a 4:2:0 frame (planes one after another, video range) as JPEG for viewing. If a side is odd, chroma has no
/// fixed row length, and the picture is grey. Throws Error if FFmpeg is missing.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> frame, int width, int height,
                                                    bool full_range = false);

/// Returns a picture as JPEG, at the best quality that fits into `most_bytes`, or else at the lowest quality. Throws
/// Error if FFmpeg is missing.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(const Image& image, std::size_t most_bytes);

/// Throws Error (usage) if save_picture() cannot write files with this extension. Call it before the picture is
/// computed.
void check_picture_name(const std::string& path);

/// Returns how many bytes save_picture() needs in addition to a picture of `image_bytes`.
[[nodiscard]] std::uint64_t memory_to_save(const std::string& path, std::uint64_t image_bytes);

/// Writes the picture as PNG or PPM, depending on the extension. Throws Error (usage) for other extensions, Error
/// (output).
void save_picture(const std::string& path, const Image& image, Durability durability = Durability::process);

/// Returns a picture as a URI such as "data:image/jpeg;base64,…", for pages that contain their pictures. `kind` is png
/// or jpeg.
[[nodiscard]] std::string data_uri(const std::string& kind, const std::vector<std::uint8_t>& picture);

}  // namespace c63::tools
