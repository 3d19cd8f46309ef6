#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "io/media_module.h"

// The functions of the module for FFmpeg, with the signatures of MediaModule.

namespace c63 {

[[nodiscard]] std::unique_ptr<FrameSource> open_av_source(std::unique_ptr<ByteSource> bytes, const SourceOptions& options,
                                                          const CheckSize& check_size);

void encode_picture(PictureCode code, std::span<const std::uint8_t> samples, int width, int height, int quality,
                    const std::function<void(std::span<const std::uint8_t>)>& take);

}  // namespace c63
