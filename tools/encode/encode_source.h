#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "c63/frame_source.h"
#include "encode/encode_options.h"

namespace c63::tools {

/// The frames to encode, and the memory that reading them takes, as a part of --max-memory.
struct EncodeSource {
  std::unique_ptr<FrameSource> frames;
  std::uint64_t bytes = 0;
};

/// Opens the input, with the frames and the prefilter that the options name. If the input fails after a stop request,
/// the video ends normally: the signal may also have ended the program that writes to the input pipe, in the middle of
/// a frame. Throws Error.
[[nodiscard]] EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                              const std::function<void(const std::string&)>& warn);

}  // namespace c63::tools
