// Whatever is encoded decodes to what the encoder reconstructed, at any size, quality and content.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "codec/geometry.h"
#include "support/sources.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 6;
  if (size < kHead) return -1;
  c63::EncoderSettings settings;
  settings.coding.width = 1 + data[0] % 80;
  settings.coding.height = 1 + data[1] % 80;
  if (!c63::is_codable_area(settings.coding.width, settings.coding.height)) return -1;
  settings.coding.qp = 5 + data[2] % 46;
  settings.coding.key_interval = 1 + data[3] % 4;
  settings.coding.search_range = 1 + data[4] % 24;
  settings.execution.lanes = 1 + data[5] % 3;
  settings.execution.threads = 1;
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion = settings.measurement.ssim = true;

  // The rest is the video, over and over until there are three frames.
  const std::size_t frame = c63::frame_bytes(settings.coding.width, settings.coding.height);
  c63::test::Bytes video(3 * frame);
  for (std::size_t i = 0; i < video.size(); ++i) video[i] = size > kHead ? data[kHead + i % (size - kHead)] : 0;

  const auto kind = data[5] % 2 == 0 ? c63::test::VideoSource::Kind::file : c63::test::VideoSource::Kind::pipe;
  c63::test::VideoSource source(std::move(video), settings.coding.width, settings.coding.height, kind);
  std::vector<c63::EncodedFrame> encoded;
  c63::Encoder(settings).encode(source, [&](c63::EncodedFrame&& done) { encoded.push_back(std::move(done)); });
  require(encoded.size() == 3);

  c63::FrameDecoder decoder({.keep_prediction = true, .keep_motion = true});
  for (const c63::EncodedFrame& e : encoded) {
    const c63::DecodedFrame d = decoder.decode(e.bytes);
    require(d.picture == e.reconstruction);
    require(d.prediction == e.prediction);
    require(d.key == e.key);
    for (int p = 0; p < 3; ++p) require(d.motion[p].vectors == e.motion[p].vectors);
  }
  return 0;
}
