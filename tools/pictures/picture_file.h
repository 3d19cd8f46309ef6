#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "pictures/image.h"

namespace c63::tools {

/// Throws Error (usage, C63-NO-PNG) if FFmpeg, whose encoders write PNG and JPEG, is not there. Loads it.
void require_png();
[[nodiscard]] bool can_write_png();

/// The picture as PNG. Throws Error if FFmpeg is not there.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

/// A frame in linear 4:2:0 layout (video range) as JPEG, fit to look at. Chroma of sizes with an odd side, which has no rows, is
/// left grey. Throws as above.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> frame, int width, int height);

/// A picture as JPEG: the best quality that takes at most so many bytes, or the least there is. Throws as above.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(const Image& image, std::size_t most_bytes);

/// Checks a name before anything is computed for it. Throws Error (usage) for one that save_picture() cannot serve.
void check_picture_name(const std::string& path);

/// Bytes that save_picture() takes next to a picture of `image_bytes`, at most.
[[nodiscard]] std::uint64_t memory_to_save(const std::string& path, std::uint64_t image_bytes);

/// Writes PNG or, by the name, PPM. Throws Error (usage) for other names, Error (output).
void save_picture(const std::string& path, const Image& image, Durability durability = Durability::process);

/// "data:image/jpeg;base64,…" for pages that carry their pictures; `kind` is png or jpeg.
[[nodiscard]] std::string data_uri(const std::string& kind, const std::vector<std::uint8_t>& picture);

}  // namespace c63::tools
