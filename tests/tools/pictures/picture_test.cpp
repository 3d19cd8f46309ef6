#include <gtest/gtest.h>

#include <fstream>

#include "pictures/image.h"
#include "pictures/picture_file.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/shell.h"

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

TEST(PictureTest, PngHoldsEverySample) {
  if (!can_write_png()) GTEST_SKIP() << "built without FFmpeg's PNG encoder";
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg on the PATH";
  const Image image = to_image(test::generate_a(37, 20, 1), 37, 20);
  const test::TemporaryFolder folder;
  save_picture(folder.file("a.png"), image);
  const auto decoded = test::shell("ffmpeg -nostdin -v error -i '" + folder.file("a.png") + "' -f rawvideo -pix_fmt rgb24 -");
  ASSERT_EQ(decoded.exit_code, 0);
  EXPECT_EQ(decoded.output, std::string(image.bytes().begin(), image.bytes().end()));
}

TEST(PictureTest, DataUrisAreBase64) {
  const auto encoded = [](const std::string& text) { return data_uri({text.begin(), text.end()}).substr(22); };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xfe"), "//4=");
}

TEST(PictureTest, OtherNamesAreRefused) {
  test::expect_error(ErrorKind::usage, "C63-PICTURE-NAME", [] { check_picture_name("a.gif"); });
  check_picture_name("a.ppm");
}

}  // namespace
}  // namespace c63::tools
