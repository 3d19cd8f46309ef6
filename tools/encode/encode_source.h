#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "c63/frame_source.h"
#include "encode/encode_options.h"

namespace c63::tools {

/// What an encode reads, and what of --max-memory that takes.
struct EncodeSource {
  std::unique_ptr<FrameSource> frames;
  std::uint64_t bytes = 0;
};

/// Opens the input with the options' frames and prefilter. After a stop request, an error of the input ends the video
/// normally: a pipe may have been cut anywhere. Throws Error.
[[nodiscard]] EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                              const std::function<void(const std::string&)>& warn);

}  // namespace c63::tools
