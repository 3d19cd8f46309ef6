#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "io/media_module.h"

namespace c63 {

/// Returns true if this build of FFmpeg has an encoder for `code`.
[[nodiscard]] bool can_encode_picture(PictureCode code);

/// Does what MediaModule::encode() does. Throws Error (usage, C63-NO-PNG) if this build of FFmpeg has no encoder for
/// `code`, and std::bad_alloc.
void encode_picture(PictureCode code, std::span<const std::uint8_t> samples, int width, int height, int quality,
                    const std::function<void(std::span<const std::uint8_t>)>& take);

}  // namespace c63
