#include "io/source_parts.h"

#include <string>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/settings.h"
#include "io/text.h"

namespace c63 {

void check_picture_size(int width, int height, const Limits& limits, const std::string& file) {
  try {
    validate(EncoderSettings{.coding = {.width = width, .height = height}, .execution = {.limits = limits}});
  } catch (const Error& error) {
    throw error.at({.file = file});
  }
  if (frame_bytes(width, height) > limits.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "a frame of " + size_text(width, height) + " takes " + bytes_text(frame_bytes(width, height)) +
                    "; the limit is " + bytes_text(limits.max_memory),
                {.file = file});
  }
}

void warn(const SourceOptions& options, const std::string& message) {
  if (options.warn) options.warn(message);
}

}  // namespace c63
