#include "motion/motion_stream.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "c63/error.h"
#include "io/byte_source.h"

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

MotionStream::MotionStream(const std::string& path, std::unique_ptr<FrameSource> source, const Limits& limits)
    : path_(path),
      source_(std::move(source)),
      bytes_(open_byte_source(path)),
      reader_(*bytes_, limits),
      decoder_(DecoderSettings{.execution = {.limits = limits}, .keep_prediction = true}),
      analyser_(limits) {}

std::optional<MotionFrame> MotionStream::next() {
  try {
    const auto coded = reader_.next();
    if (!coded) return std::nullopt;
    MotionFrame frame;
    frame.index = coded->index;
    try {
      DecodedFrame decoded = decoder_.decode(coded->bytes);
      frame.picture = std::move(decoded.picture);
      frame.prediction = std::move(decoded.prediction);
      frame.blocks = analyser_.analyse(coded->bytes);
    } catch (const Error& error) {
      throw error.at({.frame = coded->index});
    }
    std::span<const std::uint8_t> coded_picture = frame.picture;
    if (source_) {
      const VideoFormat format = source_->format();
      if (format.width != frame.blocks.width || format.height != frame.blocks.height) {
        throw Error(ErrorKind::comparison, "C63-CMP-SIZE", "the source has another picture size than the stream");
      }
      source_frame_.resize(frame.picture.size());
      if (!source_->read(frame.index, source_frame_)) {
        throw Error(ErrorKind::comparison, "C63-CMP-COUNT", "the source ends before the stream", {.frame = frame.index});
      }
      coded_picture = source_frame_;
      frame.sad_of_source = true;
    }
    if (!frame.blocks.repeat) frame.sads = block_sads(coded_picture, frame.prediction, frame.blocks);
    return frame;
  } catch (const Error& error) {
    throw error.at({.file = path_});
  }
}

}  // namespace c63::tools
