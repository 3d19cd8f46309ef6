#include "bitstream/stream_frame.h"

#include <utility>

#include "bitstream/entropy_decoder.h"

namespace c63 {

FrameInfo StreamFrame::info() const {
  return {.index = index,
          .key = parsed.key,
          .repeat = parsed.repeat,
          .advances_reference = parsed.advances_reference,
          .width = parsed.geometry.width(),
          .height = parsed.geometry.height(),
          .offset = offset,
          .coded_bytes = parsed.size};
}

Error StreamFrame::located(const Error& error) const {
  ErrorPlace place = error.place();
  place.frame = index;
  place.offset = static_cast<std::int64_t>(offset) + place.offset.value_or(0);
  return {error.kind(), error.id(), error.message(), std::move(place)};
}

void StreamFrame::throw_scan_error() const {
  try {
    FrameSyntax syntax(parsed.geometry);
    std::vector<std::uint8_t> scratch;
    decode_scan(parsed, syntax, scratch);
  } catch (const Error& error) {
    throw located(error);
  }
  throw Error(ErrorKind::device, "C63-DEVICE-DECODE", "the GPU cannot decode a frame that the CPU can decode", {.frame = index});
}

}  // namespace c63
