// Encodes any video, of any size and quality and with any decisions. Decoding must give the encoder's reconstruction.
// Every instruction set must write the same bytes.

#include <array>
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

/// Returns settings in which each bit of `set` says whether a decision is made here. If so, its value comes from
/// `values` or `lambda`. The preset makes all other decisions.
c63::RateSettings rate_of(std::uint8_t set, std::uint8_t values, std::uint8_t lambda) {
  c63::RateSettings rate;
  const auto has = [](std::uint8_t bits, int bit) { return (bits >> bit & 1) != 0; };
  if (has(set, 0)) rate.tables = has(values, 0) ? c63::TableShape::flat : c63::TableShape::course;
  if (has(set, 1)) rate.headers = has(values, 1) ? c63::HeaderSet::compact : c63::HeaderSet::full;
  if (has(set, 2)) rate.choose_levels = has(values, 2);
  if (has(set, 3)) rate.candidates = values % 8;
  if (has(set, 4)) rate.beam = 1 + values % 8;
  if (has(set, 5)) rate.unpredicted = has(values, 3);
  if (has(set, 6)) rate.repeats = has(values, 4);
  if (has(set, 7)) rate.lambda_scale = 0.05 + lambda / 255.0 * 3.95;
  return rate;
}

c63::test::Bytes stream_of(const c63::EncoderSettings& settings, const c63::test::Bytes& video,
                           c63::test::VideoSource::Kind kind, std::vector<c63::EncodedFrame>& encoded) {
  c63::test::VideoSource source(video, settings.coding.width, settings.coding.height, kind);
  c63::test::Bytes stream;
  c63::Encoder(settings).encode(source, [&](c63::EncodedFrame&& done) {
    stream.insert(stream.end(), done.bytes.begin(), done.bytes.end());
    encoded.push_back(std::move(done));
  });
  return stream;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 11;
  if (size < kHead) return -1;
  c63::EncoderSettings settings;
  settings.coding.width = 1 + data[0] % 80;
  settings.coding.height = 1 + data[1] % 80;
  if (!c63::is_codable_area(settings.coding.width, settings.coding.height)) return -1;
  settings.coding.qp = 5 + data[2] % 91 / 2.0;
  settings.coding.key_interval = 1 + data[3] % 4;
  settings.coding.search_range = 1 + data[4] % 24;
  settings.execution.lanes = 1 + data[5] % 3;
  settings.execution.threads = 1 + data[5] / 3 % 2;
  settings.coding.preset = std::array{c63::Preset::reference, c63::Preset::fast, c63::Preset::good}[data[6] % 3];
  settings.coding.rate = rate_of(data[7], data[8], data[9]);
  const auto sets = c63::available_simd_levels();
  settings.execution.simd = sets[data[10] % sets.size()];
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion = settings.measurement.ssim = true;

  // The bytes after the first kHead bytes are the samples of the video. They are repeated to fill three frames.
  const std::size_t frame = c63::frame_bytes(settings.coding.width, settings.coding.height);
  c63::test::Bytes video(3 * frame);
  for (std::size_t i = 0; i < video.size(); ++i) video[i] = size > kHead ? data[kHead + i % (size - kHead)] : 0;

  const auto kind = data[5] % 2 == 0 ? c63::test::VideoSource::Kind::file : c63::test::VideoSource::Kind::pipe;
  std::vector<c63::EncodedFrame> encoded;
  const c63::test::Bytes stream = stream_of(settings, video, kind, encoded);
  require(encoded.size() == 3);
  c63::EncoderSettings other = settings;
  other.execution.simd = c63::SimdLevel::scalar;
  other.execution.lanes = 1;
  std::vector<c63::EncodedFrame> others;
  require(stream_of(other, video, kind, others) == stream);

  c63::FrameDecoder decoder({.keep_prediction = true, .keep_motion = true});
  for (const c63::EncodedFrame& e : encoded) {
    const c63::DecodedFrame d = decoder.decode(e.bytes);
    require(d.picture == e.reconstruction);
    require(d.prediction == e.prediction);
    require(d.key == e.key);
    require(d.repeat == e.repeat);
    for (int p = 0; p < 3; ++p) require(d.motion[p].vectors == e.motion[p].vectors);
  }
  return 0;
}
