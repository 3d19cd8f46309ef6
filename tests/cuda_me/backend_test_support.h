#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/encoder.h"
#include "support/coding.h"
#include "support/sources.h"

namespace c63::cuda {

/// Skips the test, with the reason, if there is no GPU.
class BackendTest : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceList& list = devices();
    if (list.state != DeviceState::usable) GTEST_SKIP() << "no usable GPU: " << list.reason;
  }
};

using test::Encoded;

inline Encoded encode_with(Encoder&& encoder, FrameSource& source) {
  return test::without_error(test::encode_source(source, encoder));
}
inline Encoded encode_with(Encoder&& encoder, const test::Bytes& video,
                           test::VideoSource::Kind kind = test::VideoSource::Kind::file) {
  test::VideoSource source(video, encoder.settings().coding.width, encoder.settings().coding.height, kind);
  return encode_with(std::move(encoder), source);
}

inline Encoded on_cpu(const EncoderSettings& settings, const test::Bytes& video) {
  return encode_with(Encoder(settings), video);
}

inline Encoded on_gpu(const EncoderSettings& settings, const test::Bytes& video, const CudaBackendOptions& options = {},
                      test::VideoSource::Kind kind = test::VideoSource::Kind::file) {
  return encode_with(Encoder(settings, make_backend_factories(options)), video, kind);
}

/// Options that must not change the bytes of a stream. One way takes all GPUs, and one takes a GPU twice.
inline std::vector<CudaBackendOptions> ways_to_encode() {
  std::vector<int> all;
  for (const DeviceInfo& device : devices().devices) all.push_back(device.index);
  return {{},
          {.graphs = false},
          {.coded_capacity = 100},
          {.upload = UploadMode::pair},
          {.devices = {0, 0}},
          {.devices = all}};
}

/// Compares two streams. If they differ, the message says where.
inline testing::AssertionResult same_bytes(const test::Bytes& a, const test::Bytes& b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() && y == b.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "sizes " << a.size() << " and " << b.size() << ", first difference at byte "
                                     << (x - a.begin());
}

/// Expects that both encodes returned the same frames: equal bytes, pictures, statistics, vectors and SADs.
inline void expect_same_frames(const Encoded& a, const Encoded& b) {
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    const EncodedFrame& x = a.frames[i];
    const EncodedFrame& y = b.frames[i];
    SCOPED_TRACE(i);
    EXPECT_EQ(x.index, y.index);
    EXPECT_EQ(x.key, y.key);
    EXPECT_EQ(x.repeat, y.repeat);
    EXPECT_TRUE(same_bytes(x.bytes, y.bytes));
    EXPECT_TRUE(same_bytes(x.reconstruction, y.reconstruction));
    EXPECT_TRUE(same_bytes(x.prediction, y.prediction));
    EXPECT_EQ(x.statistics.sse, y.statistics.sse);
    // A plane that is too small for SSIM's window has the value NaN. Comparing the bits makes two such values equal.
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(x.statistics.ssim[p]), std::bit_cast<std::uint64_t>(y.statistics.ssim[p]));
    }
    EXPECT_EQ(x.statistics.luma_sad, y.statistics.luma_sad);
    EXPECT_EQ(x.statistics.bits.header, y.statistics.bits.header);
    EXPECT_EQ(x.statistics.bits.motion, y.statistics.bits.motion);
    EXPECT_EQ(x.statistics.bits.luma, y.statistics.bits.luma);
    EXPECT_EQ(x.statistics.bits.chroma, y.statistics.bits.chroma);
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(x.motion[p].vectors, y.motion[p].vectors);
      EXPECT_EQ(x.motion[p].sads, y.motion[p].sads);
      EXPECT_EQ(x.motion[p].inter, y.motion[p].inter);
    }
  }
}

/// Encodes a video that repeats `group`, the frames of one GOP, `groups` times. Expects the bytes of `expected` for
/// every GOP. Choose large pictures, so that each multiprocessor searches several tiles (a tile is the blocks that a
/// thread block searches together). Choose enough GOPs for some seconds. Some errors occur only if a tile finishes late
/// or a kernel starts late. They are likely to show in such a run.
inline void expect_the_same_for_long(const EncoderSettings& settings, const CudaBackendOptions& options, const test::Bytes& group,
                                     const Encoded& expected, std::int64_t groups) {
  test::VideoSource video(group, settings.coding.width, settings.coding.height);
  video.loop(groups * settings.coding.key_interval);
  Encoder encoder(settings, make_backend_factories(options));
  std::int64_t different = 0;
  const EncodeSummary summary = encoder.encode(video, [&](EncodedFrame&& frame) {
    if (frame.bytes != expected.frames[static_cast<std::size_t>(frame.index % settings.coding.key_interval)].bytes) ++different;
  });
  EXPECT_EQ(summary.frames, groups * settings.coding.key_interval);
  EXPECT_EQ(different, 0) << "frames of " << options.motion_kernel << ", " << name(settings.coding.preset) << ", "
                          << settings.execution.lanes << " lanes";
}

/// Expects that decoding gives the reconstructions that the encoder kept.
inline void expect_decodes(const Encoded& run) {
  EXPECT_TRUE(same_bytes(run.reconstructions(), test::without_error(test::decode_stream(run.stream())).pictures()));
}

}  // namespace c63::cuda
