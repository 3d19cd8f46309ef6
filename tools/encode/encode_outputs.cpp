#include "encode/encode_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "c63/error.h"

namespace c63::tools {
namespace {

std::string sample_place(std::size_t offset, const EncoderSettings& s) {
  int plane = 0;
  while (plane < 2 && offset >= plane_bytes(s.coding.width, s.coding.height, plane)) {
    offset -= plane_bytes(s.coding.width, s.coding.height, plane);
    ++plane;
  }
  // If a side is odd, a chroma plane has no fixed row length. Then the sample is named by its offset in the plane.
  const bool rows = plane == 0 || (s.coding.width % 2 == 0 && s.coding.height % 2 == 0);
  const auto width = static_cast<std::size_t>(plane == 0 ? s.coding.width : s.coding.width / 2);
  return rows ? fmt::format("{} sample {},{}", "YUV"[plane], offset % width, offset / width)
              : fmt::format("{} sample {}", "YUV"[plane], offset);
}

}  // namespace

void verify_frame(FrameDecoder& decoder, const EncodedFrame& frame, const EncoderSettings& settings) {
  const DecodedFrame decoded = decoder.decode(frame.bytes);
  const auto& expected = frame.reconstruction;
  if (decoded.picture == expected) return;
  std::string what = "the decoded picture differs from the encoder's";
  if (decoded.picture.size() == expected.size()) {
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), decoded.picture.begin());
    what += fmt::format(", first at {} ({} instead of {})",
                        sample_place(static_cast<std::size_t>(a - expected.begin()), settings), *b, *a);
  } else {
    what += fmt::format(" ({} bytes instead of {})", decoded.picture.size(), expected.size());
  }
  throw Error(ErrorKind::comparison, "C63-VERIFY", what, {.frame = frame.index});
}

EncodeOutputs::EncodeOutputs(const EncodeOptions& o, const VideoFormat& format) : stream_(o.output, writing_of(o)) {
  const Writing writing = writing_of(o);
  const auto open_video = [&](const std::string& path) {
    return SideOutput<FrameWriter>(path.empty() ? nullptr : open_frame_writer(path, format.rate, writing));
  };
  reconstruction_ = open_video(o.reconstruction);
  prediction_ = open_video(o.prediction);
  if (!o.csv.empty()) csv_ = SideOutput(std::make_unique<FrameCsv>(o.csv, writing));
  if (!o.yuview.empty()) {
    const std::string name = o.source.path == "-" ? "stdin" : o.source.path;
    yuview_ = SideOutput(std::make_unique<YuviewWriter>(o.yuview, name, format, BlockTypes{}, writing));
  }
  if (o.count_bits) kinds_.emplace();
  if (o.verify) decoder_ = std::make_unique<FrameDecoder>(DecoderSettings{.execution = {.simd = o.encoder.execution.simd}});
}

void EncodeOutputs::write(EncodedFrame& frame, const EncoderSettings& settings) {
  if (decoder_) verify_frame(*decoder_, frame, settings);
  const auto start = std::chrono::steady_clock::now();
  const int width = settings.coding.width;
  const int height = settings.coding.height;
  stream_.write(frame.bytes);
  reconstruction_.use([&](FrameWriter& video) { video.write(width, height, frame.reconstruction); });
  prediction_.use([&](FrameWriter& video) { video.write(width, height, frame.prediction); });
  std::optional<FrameBlocks> blocks;
  if (kinds_) blocks = analyser_.analyse(frame.bytes);
  yuview_.use([&](YuviewWriter& statistics) {
    const std::vector<std::uint32_t> sads(frame.motion[0].sads.begin(), frame.motion[0].sads.end());
    if (!blocks) blocks = analyser_.analyse(frame.bytes);
    statistics.add(frame.index, *blocks, sads);
  });
  if (kinds_) *kinds_ += blocks->bits;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  frame.statistics.times.write += took.count();
  csv_.use([&](FrameCsv& csv) { csv.add(frame, settings, kinds_ ? &blocks->bits : nullptr); });
  ++frames_;
}

void EncodeOutputs::commit() {
  stream_.commit();
  reconstruction_.commit();
  prediction_.commit();
  csv_.commit();
  yuview_.commit();
}

std::string EncodeOutputs::commit_part() {
  std::string part = stream_.commit_part();
  reconstruction_.commit_part();
  prediction_.commit_part();
  csv_.commit_part();
  yuview_.commit_part();
  return part;
}

std::optional<Error> EncodeOutputs::side_fault() const {
  for (const auto* fault : {&reconstruction_.fault(), &prediction_.fault(), &csv_.fault(), &yuview_.fault()}) {
    if (*fault) return *fault;
  }
  return std::nullopt;
}

}  // namespace c63::tools
