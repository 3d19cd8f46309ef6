// Encoding must give the course encoder's streams, and decoding the course decoder's pictures. tests/tools does the same
// with the films of the course, from end to end.

#include <gtest/gtest.h>


#include "support/coding.h"
#include "support/golden_videos.h"
#include "support/hash.h"

namespace c63::test::golden_test {
namespace {

class GoldenVector : public testing::TestWithParam<GoldenVideo> {};

TEST_P(GoldenVector, EncodesToTheCourseEncodersBytes) {
  const GoldenVideo v = GetParam();
  const Bytes video = frames_of(v);
  for (const auto kind : {VideoSource::Kind::file, VideoSource::Kind::pipe}) {
    for (const int threads : {1, 2, 5}) {
      for (const int lanes : {1, 3}) {
        EncoderSettings settings{.coding = {.width = v.width, .height = v.height}};
        settings.execution.threads = threads;
        settings.execution.lanes = lanes;
        VideoSource source(video, v.width, v.height, kind);
        const Encoded encoded = without_error(encode_source(source, settings));
        ASSERT_EQ(encoded.stream().size(), v.stream_bytes);
        ASSERT_EQ(md5(encoded.stream()), v.stream_md5) << threads << " threads, " << lanes << " lanes";
        ASSERT_EQ(encoded.summary.frames, v.frames);
        ASSERT_EQ(encoded.summary.bytes, v.stream_bytes);
        ASSERT_EQ(encoded.summary.key_frames, (v.frames + 99) / 100);
      }
    }
  }
}

TEST_P(GoldenVector, DecodesToTheCourseDecodersPictures) {
  const GoldenVideo v = GetParam();
  const Bytes stream = encode(frames_of(v), {.coding = {.width = v.width, .height = v.height}});
  for (const int threads : {1, 2, 5}) {
    for (const std::size_t piece : {std::size_t{SIZE_MAX}, std::size_t{499}}) {
      StreamSource source(stream, piece);
      const Decoded decoded = without_error(decode_stream(source, {.execution = {.threads = threads}}));
      ASSERT_EQ(md5(decoded.pictures()), v.decoded_md5) << threads << " threads";
      ASSERT_EQ(decoded.summary.bytes, v.stream_bytes);
      ASSERT_EQ(decoded.summary.width, v.width);
      ASSERT_EQ(decoded.summary.height, v.height);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenVector, testing::ValuesIn(kGoldenVideos),
                         [](const auto& tested) { return name(tested.param); });

}  // namespace
}  // namespace c63::test::golden_test
