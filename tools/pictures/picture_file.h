#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "pictures/image.h"

namespace c63::tools {

/// Throws Error (usage, C63-NO-PNG) if FFmpeg is missing; its encoders write PNG and JPEG. Loads it otherwise.
void require_png();
[[nodiscard]] bool can_write_png();

/// Returns the picture as PNG. Throws Error if FFmpeg is missing.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

/// Returns a frame in linear 4:2:0 layout (video range) as JPEG, to look at. Chroma of sizes with an odd side has no
/// rows, and stays grey. Throws as above.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> frame, int width, int height);

/// Returns a picture as JPEG: the best quality within this many bytes, or the smallest possible. Throws as above.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(const Image& image, std::size_t most_bytes);

/// Checks a name before anything is computed for it. Throws Error (usage) if save_picture() does not know its format.
void check_picture_name(const std::string& path);

/// Returns the most bytes that save_picture() needs besides a picture of `image_bytes`.
[[nodiscard]] std::uint64_t memory_to_save(const std::string& path, std::uint64_t image_bytes);

/// Writes PNG or, depending on the name, PPM. Throws Error (usage) for other names, Error (output).
void save_picture(const std::string& path, const Image& image, Durability durability = Durability::process);

/// Returns "data:image/jpeg;base64,…" for pages that contain their pictures. `kind` is png or jpeg.
[[nodiscard]] std::string data_uri(const std::string& kind, const std::vector<std::uint8_t>& picture);

}  // namespace c63::tools
