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

/// Opens the input as the options say: cut to frames, prefiltered. After a stop request its faults are the end of the
/// video: a pipe may have been cut anywhere. Throws Error.
[[nodiscard]] EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                              const std::function<void(const std::string&)>& warn);

}  // namespace c63::tools
