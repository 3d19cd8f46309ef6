#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "pictures/image.h"

namespace c63::tools {

/// True where this build has FFmpeg, whose encoder writes PNG.
[[nodiscard]] bool can_write_png();

/// The picture as PNG. Throws Error (usage, C63-NO-PNG) in a build without FFmpeg.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

/// Checks a name before anything is computed for it. Throws Error (usage) for one that save_picture() cannot serve.
void check_picture_name(const std::string& path);

/// Writes PNG or, by the name, PPM. Throws Error (usage) for other names, Error (output).
void save_picture(const std::string& path, const Image& image, Durability durability = Durability::process);

/// "data:image/png;base64,…" for pages that carry their pictures.
[[nodiscard]] std::string data_uri(const std::vector<std::uint8_t>& png);

}  // namespace c63::tools
