#include <gtest/gtest.h>

#include "pictures/image.h"
#include "pictures/picture_file.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {
namespace {

TEST(PictureTest, GreyFramesAreGrey) {
  std::vector<std::uint8_t> frame(frame_bytes(16, 8), 128);
  const Image image = to_image(frame, 16, 8, 2);
  EXPECT_EQ(image.width(), 32);
  EXPECT_EQ(image.height(), 16);
  const Colour colour = image.at(31, 15);
  EXPECT_EQ(colour[0], colour[1]);
  EXPECT_EQ(colour[1], colour[2]);
  EXPECT_EQ(colour[0], 130);  // (128-16)·255/219
}

TEST(PictureTest, FullRangeIsNotStretched) {
  for (const int sample : {0, 16, 100, 235, 255}) {
    std::vector<std::uint8_t> frame(frame_bytes(16, 8), 128);
    std::fill_n(frame.begin(), 16 * 8, static_cast<std::uint8_t>(sample));
    EXPECT_EQ(to_image(frame, 16, 8, 1, true).at(3, 3)[1], sample);
    EXPECT_EQ(to_image(frame, 16, 8).at(3, 3)[1], std::clamp(((sample - 16) * 510 + 219) / 438, 0, 255)) << sample;
  }
}

TEST(PictureTest, HeatRises) {
  int last = -1;
  for (int i = 0; i <= 20; ++i) {
    const Colour c = heat_colour(i / 20.0);
    const int lightness = 2 * c[0] + 5 * c[1] + c[2];
    EXPECT_GT(lightness, last) << i;
    last = lightness;
  }
  EXPECT_EQ(heat_colour(-1), heat_colour(0));
  EXPECT_EQ(heat_colour(7), heat_colour(1));
}

TEST(PictureTest, LinesStayInsideThePicture) {
  Image image(20, 10);
  draw_arrow(image, -50, 5, 50, 5, 2, {255, 255, 255});
  EXPECT_EQ(image.at(10, 5), (Colour{255, 255, 255}));
  EXPECT_EQ(image.at(10, 0), (Colour{0, 0, 0}));
}

bool can_write_png() {
  try {
    require_png();
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(PictureTest, PngHoldsEverySample) {
  if (!can_write_png()) GTEST_SKIP() << "built without FFmpeg's PNG encoder";
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg on the PATH";
  const Image image = to_image(test::generate_a(37, 20, 1), 37, 20);
  const test::TemporaryFolder folder;
  save_picture(folder.file("a.png"), image);
  const auto decoded = test::expect_success(test::shell("ffmpeg -nostdin -v error -i '" + folder.file("a.png") + "' -f rawvideo -pix_fmt rgb24 -"));
  EXPECT_EQ(decoded.output, std::string(image.bytes().begin(), image.bytes().end()));
}

/// Decodes a JPEG with the ffmpeg program, and returns the samples of its three planes.
std::string planes_of(const std::vector<std::uint8_t>& jpeg) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder.file("a.jpg"), jpeg);
  return test::shell("ffmpeg -nostdin -v error -i '" + folder.file("a.jpg") + "' -f rawvideo -pix_fmt yuvj420p -").output;
}

TEST(PictureTest, JpegHasTheWholeRange) {
  if (!can_write_png()) GTEST_SKIP() << "built without FFmpeg's encoders";
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg on the PATH";
  for (const auto& [video, whole] : {std::pair{16, 0}, {126, 128}, {235, 255}, {255, 255}, {0, 0}}) {
    std::vector<std::uint8_t> frame(16 * 16 * 3 / 2, static_cast<std::uint8_t>(video));
    std::fill(frame.begin() + 256, frame.begin() + 320, std::uint8_t{128});
    std::fill(frame.begin() + 320, frame.end(), std::uint8_t{240});
    const std::string planes = planes_of(encode_jpeg(frame, 16, 16));
    ASSERT_EQ(planes.size(), frame.size());
    EXPECT_NEAR(static_cast<std::uint8_t>(planes[100]), whole, 2) << video;
    EXPECT_NEAR(static_cast<std::uint8_t>(planes[280]), 128, 2);
    EXPECT_NEAR(static_cast<std::uint8_t>(planes[350]), 255, 2);
  }
  const std::vector<std::uint8_t> odd(5 * 4 * 3 / 2, 126);  // no rows of chroma
  EXPECT_FALSE(planes_of(encode_jpeg(odd, 5, 4)).empty());
}

TEST(PictureTest, AJpegWiderThanItsFormatIsALimit) {
  if (!can_write_png()) GTEST_SKIP() << "no FFmpeg";
  const std::vector<std::uint8_t> frame(frame_bytes(65504, 8), 128);
  test::expect_error(ErrorKind::limit, "C63-PICTURE-SIZE", [&] { (void)encode_jpeg(frame, 65504, 8); });
}

TEST(PictureTest, OtherNamesAreRefused) {
  test::expect_error(ErrorKind::usage, "C63-PICTURE-NAME", [] { check_picture_name("a.gif"); });
  check_picture_name("a.ppm");
}

}  // namespace
}  // namespace c63::tools
