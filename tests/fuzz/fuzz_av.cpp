// Any bytes that FFmpeg takes for a video give frames or one Error, with and without skipping what is damaged.

#include "source_outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return -1;
  c63::SourceOptions options{.format = c63::SourceFormat::av};
  options.limits.max_pixels = 256 * 256;
  options.limits.max_memory = 64 << 20;
  options.tolerant = (data[0] & 1) != 0;
  const auto kind = (data[0] & 2) != 0 ? c63::fuzz::NamedBytes::Kind::pipe : c63::fuzz::NamedBytes::Kind::file;
  const c63::fuzz::NamedBytes file({data + 1, size - 1}, kind);
  options.path = file.name();
  const auto outcome = c63::fuzz::read_source(options, 16);
  for (const auto& frame : outcome.frames) {
    c63::fuzz::require(frame.size() == c63::frame_bytes(outcome.format.width, outcome.format.height));
  }
  return 0;
}
