#include "motion/motion_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "c63/error.h"

namespace c63::tools {

std::array<std::vector<std::uint32_t>, 3> block_sads(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                                     const FrameBlocks& blocks) {
  std::array<std::vector<std::uint32_t>, 3> sads;
  const auto planes_a = split_planes(a, blocks.width, blocks.height);
  const auto planes_b = split_planes(b, blocks.width, blocks.height);
  for (int p = 0; p < 3; ++p) {
    const PlaneBlocks& plane = blocks.planes[p];
    const auto pitch = static_cast<std::size_t>(plane.columns) * 8;
    sads[p].resize(static_cast<std::size_t>(plane.columns) * plane.rows);
    for (std::size_t i = 0; i < planes_a[p].size(); ++i) {
      sads[p][i / pitch / 8 * plane.columns + i % pitch / 8] +=
          static_cast<std::uint32_t>(std::abs(planes_a[p][i] - planes_b[p][i]));
    }
  }
  return sads;
}

MotionStream::MotionStream(std::unique_ptr<InputFile> file, std::unique_ptr<FrameSource> source, const Limits& limits)
    : path_(file->name()),
      source_(std::move(source)),
      bytes_(make_byte_source(std::move(file))),
      reader_(*bytes_, limits),
      decoder_(DecoderSettings{.execution = {.limits = limits}, .keep_prediction = true}),
      analyser_(limits),
      max_memory_(limits.max_memory) {}

void MotionStream::require_memory(const Geometry& geometry) const {
  // The unit is the size of a picture. Decoding takes 2.5, and six more for three pictures with their predictions. The
  // values of blocks take 2.5, the returned frame takes two, and the source's frame takes one.
  const std::uint64_t samples = geometry.padded_samples();
  const std::uint64_t own = samples * 13 + (source_ ? samples : 0);
  const std::uint64_t more = reserve_ ? reserve_(geometry.width(), geometry.height()) : 0;
  if (own + more <= max_memory_) return;
  throw Error(
      ErrorKind::limit, "C63-MAX-MEMORY",
      fmt::format("decoding {}x{} takes {} bytes and the output {}, together {}; the limit is {} (--max-memory)",
                  geometry.width(), geometry.height(), own, more, own + more, max_memory_));
}

void MotionStream::decode(const StreamFrame& coded) {
  frame_.index = coded.index;
  if (coded.parsed.repeat && !frame_.picture.empty()) {
    frame_.blocks = analyser_.analyse(coded.bytes);
    frame_.sads = {};
    return;
  }
  if (frame_.picture.empty()) require_memory(coded.parsed.geometry);
  frame_ = MotionFrame();  // if decoding throws, there is no old frame
  frame_.index = coded.index;
  DecodedFrame decoded = decoder_.decode(coded.bytes);
  frame_.picture = std::move(decoded.picture);
  frame_.prediction = std::move(decoded.prediction);
  frame_.blocks = analyser_.analyse(coded.bytes);
}

const MotionFrame* MotionStream::next() {
  try {
    auto coded = reader_.next();
    if (!coded) return nullptr;
    try {
      decode(*coded);
    } catch (const Error& error) {
      ErrorPlace place = error.place();
      place.frame = coded->index;  // the decoder counts no repeats, so its index is wrong
      throw Error(error.kind(), error.id(), error.message(), std::move(place));
    }
    frame_.coded = std::move(coded->bytes);
    std::span<const std::uint8_t> coded_picture = frame_.picture;
    if (source_) {
      const VideoFormat format = source_->format();
      if (format.width != frame_.blocks.width || format.height != frame_.blocks.height) {
        throw Error(ErrorKind::comparison, "C63-CMP-SIZE", "the source has another picture size than the stream");
      }
      source_frame_.resize(frame_.picture.size());
      if (!source_->read(frame_.index, source_frame_)) {
        throw Error(ErrorKind::comparison, "C63-CMP-COUNT", "the source ends before the stream", {.frame = frame_.index});
      }
      coded_picture = source_frame_;
      frame_.sad_of_source = true;
    }
    if (!frame_.blocks.repeat) frame_.sads = block_sads(coded_picture, frame_.prediction, frame_.blocks);
    return &frame_;
  } catch (const Error& error) {
    throw error.at({.file = path_});
  }
}

}  // namespace c63::tools
