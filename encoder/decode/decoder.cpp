#include "c63/decoder.h"

#include <string>
#include <utility>

#include "c63/error.h"
#include "decode/decode_run.h"
#include "decode/memory_bytes.h"
#include "decode/stream_reader.h"

namespace c63 {

Decoder::Decoder(DecoderSettings settings) : settings_(std::move(settings)) {
  if (settings_.first_frame >= 0) return;
  throw Error(ErrorKind::usage, "C63-SEEK-RANGE",
              "the first frame must not be negative: " + std::to_string(settings_.first_frame));
}

DecodeSummary Decoder::decode_views(ByteSource& source, const ViewSink& sink, std::stop_token stop) {
  StreamReader reader(source, settings_.execution.limits);
  StreamDevice device(settings_);
  return decode_run(reader, device, settings_, sink, stop);
}

DecodeSummary Decoder::decode_views(std::span<const std::uint8_t> stream, const ViewSink& sink, std::stop_token stop) {
  MemoryBytes source(stream);
  return decode_views(source, sink, std::move(stop));
}

DecodeSummary Decoder::decode(ByteSource& source, const Sink& sink, std::stop_token stop) {
  return decode_views(source, [&](const FrameView& view) { sink(copy_of(view)); }, std::move(stop));
}

DecodeSummary Decoder::decode(std::span<const std::uint8_t> stream, const Sink& sink, std::stop_token stop) {
  MemoryBytes source(stream);
  return decode(source, sink, std::move(stop));
}

std::vector<std::uint8_t> decode(std::span<const std::uint8_t> stream, const DecoderSettings& settings) {
  std::vector<std::uint8_t> frames;
  Decoder(settings).decode_views(stream, [&](const FrameView& view) {
    for (const auto& plane : view.picture) frames.insert(frames.end(), plane.begin(), plane.end());
  });
  return frames;
}

}  // namespace c63
