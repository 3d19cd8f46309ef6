// Reads any bytes as raw video or Y4M, from a file and from a pipe. Both must give the same frames or the same Error.

#include "source_outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 3;
  if (size < kHead) return -1;
  c63::SourceOptions options;
  options.limits.max_pixels = 128 * 128;
  options.limits.max_memory = 1 << 20;
  options.strict = (data[0] & 1) != 0;
  options.format = (data[0] & 2) != 0 ? c63::SourceFormat::raw : c63::SourceFormat::y4m;
  if (options.format == c63::SourceFormat::raw || (data[0] & 4) != 0) {
    options.width = data[1];
    options.height = data[2];
  }
  const std::span content(data + kHead, size - kHead);
  const c63::fuzz::NamedBytes file(content, c63::fuzz::NamedBytes::Kind::file);
  options.path = file.name();
  const auto from_file = c63::fuzz::read_source(options);
  const c63::fuzz::NamedBytes pipe(content, c63::fuzz::NamedBytes::Kind::pipe);
  options.path = pipe.name();
  const auto from_pipe = c63::fuzz::read_source(options);
  // The size of a file is known. So a last frame that is not whole gives an error before any frame is read. A pipe
  // gives the whole frames first, so the two outcomes differ.
  if (from_file.fault == "C63-RAW-PARTIAL") return 0;
  c63::fuzz::require(from_file.fault == from_pipe.fault && from_file.frames == from_pipe.frames);
  return 0;
}
