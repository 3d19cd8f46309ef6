// With every instruction set, encodes must give the bytes of the course encoder, and those that each preset gives.

#include <gtest/gtest.h>

#include <string>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "common/digest.h"
#include "contents.h"
#include "support/golden_videos.h"
#include "support/shared_data.h"

namespace c63::test::golden_test {
namespace {

class GoldenLevel : public parity::LevelTest {
 protected:
  [[nodiscard]] Bytes encoded(const Bytes& video, int width, int height, const CodingSettings& coding = {},
                              int turn = 0) const {
    EncoderSettings settings{.coding = coding};
    settings.coding.width = width;
    settings.coding.height = height;
    settings.execution.simd = GetParam();
    settings.execution.threads = 1 + turn % 4;
    settings.execution.lanes = turn % 5;
    return encode(video, settings);
  }
  [[nodiscard]] Bytes decoded(const Bytes& stream) const { return decode(stream, {.execution = {.simd = GetParam()}}); }
};

TEST_P(GoldenLevel, GivesTheCourseCodecsBytesWithAnyExhaustiveMethod) {
  constexpr SearchMethod kMethods[] = {SearchMethod::full, SearchMethod::full_brute, SearchMethod::full_eliminate};
  int turn = 0;
  for (const GoldenVideo& v : kGoldenVideos) {
    const Bytes stream = encoded(frames_of(v), v.width, v.height, {.method = kMethods[turn % 3]}, turn);
    EXPECT_EQ(tools::md5(stream), v.stream_md5) << name(v);
    EXPECT_EQ(tools::md5(decoded(stream)), v.decoded_md5) << name(v);
    ++turn;
  }
}

/// A preset's bytes must not depend on the machine: neither on its instruction sets nor on its mathematical functions.
TEST_P(GoldenLevel, GivesTheBytesOfEveryPreset) {
  int turn = 0;
  for (const GoldenSettings& golden : kGoldenSettings) {
    EXPECT_EQ(tools::md5(encoded(mixed_video(), 96, 64, golden.coding, turn++)), golden.md5) << golden.name;
  }
}

TEST_P(GoldenLevel, RealVideo) {
  struct Video {
    const char* name;
    int width;
    int height;
  };
  for (const auto& [video, width, height] : {Video{"people_320x192", 320, 192}, Video{"static_152x100", 152, 100}}) {
    const std::string input = "sequences/" + std::string(video) + ".yuv";
    const std::string golden = "golden/" + std::string(video) + ".c63";
    C63_NEEDS_SHARED(input);
    C63_NEEDS_SHARED(golden);
    const Bytes stream = read_bytes(shared_path(golden));
    EXPECT_EQ(encoded(read_bytes(shared_path(input)), width, height), stream) << video;
    EXPECT_EQ(decoded(stream), decode(stream, {.execution = {.simd = SimdLevel::scalar}})) << video;
  }
}

TEST_P(GoldenLevel, DecodesLongStreamsAsTheScalarLevel) {
  C63_NEEDS_SHARED("golden/mobile_352x288.c63");
  const Bytes stream = read_bytes(shared_path("golden/mobile_352x288.c63"));
  EXPECT_EQ(decoded(stream), decode(stream, {.execution = {.simd = SimdLevel::scalar}}));
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, GoldenLevel, testing::ValuesIn(values_of<SimdLevel>()), parity::name_of_level);

}  // namespace
}  // namespace c63::test::golden_test
