#include "encode_outputs.h"

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
  // Chroma of a picture with an odd side has no rows of one length.
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
  std::string what = "the decoder shows another picture than the encoder";
  if (decoded.picture.size() == expected.size()) {
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), decoded.picture.begin());
    what += fmt::format(", first at {} ({} instead of {})",
                        sample_place(static_cast<std::size_t>(a - expected.begin()), settings), *b, *a);
  } else {
    what += fmt::format(" ({} bytes instead of {})", decoded.picture.size(), expected.size());
  }
  throw Error(ErrorKind::comparison, "C63-VERIFY", what, {.frame = frame.index});
}

EncodeOutputs::EncodeOutputs(const EncodeOptions& options, const VideoFormat& format) : stream_(options.output) {
  if (!options.reconstruction.empty()) reconstruction_ = open_frame_writer(options.reconstruction, format.rate);
  if (!options.prediction.empty()) prediction_ = open_frame_writer(options.prediction, format.rate);
  if (!options.csv.empty()) csv_ = std::make_unique<FrameCsv>(options.csv);
  if (!options.yuview.empty()) {
    const std::string name = options.source.path == "-" ? "stdin" : options.source.path;
    yuview_ = std::make_unique<YuviewWriter>(options.yuview, name, format, BlockTypes{});
  }
  if (options.verify) decoder_ = std::make_unique<FrameDecoder>(DecoderSettings{.execution = {.simd = options.encoder.execution.simd}});
}

void EncodeOutputs::write(EncodedFrame& frame, const EncoderSettings& settings) {
  if (decoder_) verify_frame(*decoder_, frame, settings);
  const auto start = std::chrono::steady_clock::now();
  stream_.write(frame.bytes);
  if (reconstruction_) reconstruction_->write(settings.coding.width, settings.coding.height, frame.reconstruction);
  if (prediction_) prediction_->write(settings.coding.width, settings.coding.height, frame.prediction);
  if (yuview_) {
    const std::vector<std::uint32_t> sads(frame.motion[0].sads.begin(), frame.motion[0].sads.end());
    yuview_->add(frame.index, analyser_.analyse(frame.bytes), sads);
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  frame.statistics.times.write += took.count();
  if (csv_) csv_->add(frame, settings);
  ++frames_;
}

void EncodeOutputs::commit() {
  stream_.commit();
  if (reconstruction_) reconstruction_->commit();
  if (prediction_) prediction_->commit();
  if (csv_) csv_->commit();
  if (yuview_) yuview_->commit();
}

}  // namespace c63::tools
