// With every instruction set, encodes must give the bytes of the course encoder.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "support/generators.h"
#include "support/hash.h"
#include "support/print_names.h"
#include "support/shared_data.h"

namespace c63::test::golden_test {
namespace {

class GoldenLevel : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    const auto levels = available_simd_levels();
    if (std::ranges::find(levels, GetParam()) == levels.end()) {
      GTEST_SKIP() << "this machine or build has no " << name(GetParam()) << " kernels";
    }
  }
  [[nodiscard]] Bytes encoded(const Bytes& video, int width, int height) const {
    EncoderSettings settings;
    settings.coding.width = width;
    settings.coding.height = height;
    settings.execution.simd = GetParam();
    return encode(video, settings);
  }
  [[nodiscard]] Bytes decoded(const Bytes& stream) const { return decode(stream, {.execution = {.simd = GetParam()}}); }
};

TEST_P(GoldenLevel, NoFusedMultiplyAdd) {
  struct Canary {
    std::uint32_t seed;
    const char* stream;
    const char* pictures;
  };
  for (const auto& [seed, stream, pictures] :
       {Canary{17, "201eb33a476da958f1e9bc00f36522fb", "a99262493240e9b3d4dac8607425c19b"},
        Canary{12, "bb322017e62320263501868b39e9683c", "db46f087f44ef486bc6071e5d9e78f40"},
        Canary{3, "5e6dce8d050026ae2d1735df6aa66408", "e8ffbd527ed89e27127dad273ec5aa3f"}}) {
    const Bytes coded = encoded(generate_d(seed, 64, 64, 3), 64, 64);
    EXPECT_EQ(md5(coded), stream) << seed;
    EXPECT_EQ(md5(decoded(coded)), pictures) << seed;
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

INSTANTIATE_TEST_SUITE_P(EveryLevel, GoldenLevel, testing::ValuesIn(all_simd_levels()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace c63::test::golden_test
