// Tests that the decoder returns the encoder's reconstructions, for every size and quality.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "codec/geometry.h"
#include "support/coding.h"

namespace c63::test::round_trip_test {
namespace {

class RoundTrip : public testing::TestWithParam<int> {};

TEST_P(RoundTrip, EverySizeUpTo66) {
  std::set<int> width_remainders;
  std::set<int> height_remainders;
  for (int height = 2; height <= 66; height += 3) {
    for (int width = 2; width <= 66; width += 3) {
      if (!is_codable_area(width, height)) continue;
      width_remainders.insert(width % 16);
      height_remainders.insert(height % 16);
      EncoderSettings settings{.coding = {.width = width, .height = height, .qp = static_cast<double>(GetParam())}};
      settings.measurement.keep_reconstruction = settings.measurement.ssim = true;
      settings.coding.search_range = 1 + (width + height) % 16;
      settings.execution.threads = 1;
      const auto seed = static_cast<std::uint64_t>(width * 100 + height);
      VideoSource source(
          (width + height) % 2 == 0 ? moving_video(width, height, 2, seed) : extreme_video(width, height, 2, seed),
          width, height);
      const Encoded encoded = without_error(encode_source(source, settings));
      const Decoded decoded = decode_stream(encoded.stream(), {.execution = {.threads = 1}});
      ASSERT_FALSE(decoded.error) << width << "x" << height << ": " << decoded.error->what();
      ASSERT_EQ(decoded.pictures(), encoded.reconstructions()) << width << "x" << height;
      ASSERT_EQ(decoded.pictures().size(), 2 * frame_bytes(width, height));
    }
  }
  EXPECT_EQ(width_remainders.size(), 16U);
  EXPECT_EQ(height_remainders.size(), 16U);
}

INSTANTIATE_TEST_SUITE_P(Qp, RoundTrip, testing::Values(5, 12, 25, 40, 50), testing::PrintToStringParamName());

TEST(RoundTripOf, OddSides) {
  for (const auto& [width, height] :
       {std::pair{4, 1}, {1, 4}, {1, 64}, {64, 1}, {17, 4}, {4, 33}, {12, 3}, {2048, 2}}) {
    EncoderSettings settings{.coding = {.width = width, .height = height}};
    settings.measurement.keep_reconstruction = true;
    VideoSource source(random_video(width, height, 3), width, height);
    const Encoded encoded = without_error(encode_source(source, settings));
    EXPECT_EQ(decode(encoded.stream()), encoded.reconstructions()) << width << "x" << height;
  }
}

TEST(RoundTripOf, ExtremesAtEveryQp) {
  for (int qp = 5; qp <= 50; ++qp) {
    EncoderSettings settings{.coding = {.width = 64, .height = 48, .qp = static_cast<double>(qp)}};
    settings.measurement.keep_reconstruction = true;
    VideoSource source(extreme_video(64, 48, 3, static_cast<std::uint64_t>(qp)), 64, 48);
    const Encoded encoded = encode_source(source, settings);
    const Decoded decoded = without_error(decode_stream(encoded.stream()));
    EXPECT_EQ(decoded.pictures(), encoded.reconstructions()) << qp;
  }
}

/// The picture has the signs of the product of two cosines, in black and white. So one coefficient is as large as
/// possible.
TEST(RoundTripOf, LargestCoefficientsStayReadable) {
  for (const int qp : {25, 26, 29, 34, 50}) {
    for (int v = 0; v < 8; ++v) {
      for (int u = 0; u < 8; ++u) {
        Bytes frame(frame_bytes(16, 16));
        for (int i = 0; i < 256; ++i) {
          const int x = i % 16, y = i / 16;
          const double wave = std::cos((2 * (x % 8) + 1) * u * 3.14159265358979 / 16) *
                              std::cos((2 * (y % 8) + 1) * v * 3.14159265358979 / 16);
          frame[i] = wave > 0 ? 255 : 0;
        }
        EncoderSettings settings{.coding = {.width = 16, .height = 16, .qp = static_cast<double>(qp)}};
        settings.measurement.keep_reconstruction = true;
        VideoSource source(frame, 16, 16);
        const Encoded encoded = encode_source(source, settings);
        const Decoded decoded = without_error(decode_stream(encoded.stream()));
        EXPECT_EQ(decoded.pictures(), encoded.reconstructions()) << qp << " " << u << "," << v;
      }
    }
  }
}

}  // namespace
}  // namespace c63::test::round_trip_test
