#include "c63/frame_source.h"
#include "c63/media.h"
#include "common/digest.h"
#include "io_test_support.h"
#include "movie_builder.h"
#include "support/shared_data.h"

namespace c63 {
namespace {

using test::expect_error;
using test::read_all;
using test::read_frame;

class AvSource : public test::SourceTest {
 protected:
  static void SetUpTestSuite() { keep_media_messages(); }
};

#ifdef C63_HAVE_FFMPEG

/// Returns a picture in the PPM format.
std::string portable_pixmap(int width, int height, const std::string& rgb) {
  std::string picture = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  for (int i = 0; i < width * height; ++i) picture += rgb;
  return picture;
}

const std::string kGrey = "\x80\x80\x80";
const std::string kWhite = "\xff\xff\xff";
const std::string kGreyFrame = std::string(16, '\x7e') + std::string(8, '\x80');
const std::string kWhiteFrame = std::string(16, '\xeb') + std::string(8, '\x80');

TEST_F(AvSource, ConvertsWithOneWarning) {
  const auto source =
      open_frame_source(options(write_file("a.ppm", portable_pixmap(4, 4, kGrey) + portable_pixmap(4, 4, kWhite))));
  EXPECT_FALSE(source->seekable());
  EXPECT_EQ(source->frame_count(), std::nullopt);
  EXPECT_EQ(read_all(*source), kGreyFrame + kWhiteFrame);
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(AvSource, ReadsAPipe) {
  const test::PipedInput input(portable_pixmap(4, 4, kGrey) + portable_pixmap(4, 4, kWhite));
  EXPECT_EQ(read_all(*open_frame_source(options("-"))), kGreyFrame + kWhiteFrame);
}

TEST_F(AvSource, PadsOddSidesByRepeatingTheLastColumnAndRow) {
  const auto source = open_frame_source(options(write_file("a.ppm", "P6\n5 3\n255\n" + test::sample_bytes(5 * 3 * 3))));
  EXPECT_EQ(source->format().repeated_columns, 1);
  EXPECT_EQ(source->format().repeated_rows, 1);
  EXPECT_EQ(warnings_.size(), 2U);  // also of the conversion
  const std::string frame = read_frame(*source, 0);
  ASSERT_EQ(frame.size(), 6U * 4 * 3 / 2);
  for (std::size_t y = 0; y < 4; ++y) EXPECT_EQ(frame[6 * y + 5], frame[6 * y + 4]);
  EXPECT_EQ(frame.substr(18, 6), frame.substr(12, 6));
  EXPECT_NE(frame.substr(12, 6), frame.substr(6, 6));
}

TEST_F(AvSource, WarnsOfTurnedAndMirroredVideo) {
  const std::string picture(16 * 16 * 3, '\x80');
  const auto warnings_of = [&](const std::array<int, 4>& matrix) {
    warnings_.clear();
    static_cast<void>(open_frame_source(options(write_file("a.mov", test::movie_of({picture}, {.matrix = matrix})))));
    std::erase_if(warnings_, [](const std::string& text) { return text.find("should be shown") == std::string::npos; });
    return warnings_;
  };
  EXPECT_TRUE(warnings_of({}).empty());
  EXPECT_TRUE(warnings_of({1, 0, 0, 1}).empty());
  for (const auto& [matrix, what] : {std::pair{std::array{0, 1, -1, 0}, "shown turned 90 degrees clockwise"},
                                     {std::array{-1, 0, 0, -1}, "shown turned 180 degrees clockwise"},
                                     {std::array{0, -1, 1, 0}, "shown turned 270 degrees clockwise"},
                                     {std::array{1, 0, 0, -1}, "shown mirrored"}}) {
    const auto warnings = warnings_of(matrix);
    ASSERT_EQ(warnings.size(), 1U) << what;
    EXPECT_NE(warnings[0].find(what), std::string::npos) << warnings[0];
  }
}

TEST_F(AvSource, WarnsOnceOfUnevenTimesUnlessToldTheRate) {
  const std::string picture(16 * 16 * 3, '\x80');
  const auto warnings_of = [&](const std::vector<int>& durations, std::optional<FrameRate> rate) {
    warnings_.clear();
    const std::vector<std::string> pictures(durations.size(), picture);
    SourceOptions with = options(write_file("a.mov", test::movie_of(pictures, {.durations = durations})));
    with.rate = rate;
    EXPECT_EQ(read_all(*open_frame_source(with)).size(), durations.size() * 16 * 16 * 3 / 2);
    std::erase_if(warnings_, [](const std::string& text) { return text.find("uneven") == std::string::npos; });
    return warnings_;
  };
  EXPECT_TRUE(warnings_of({10, 10, 10, 10}, std::nullopt).empty());
  EXPECT_TRUE(warnings_of({10, 11, 9, 10}, std::nullopt).empty()) << "rounding";
  EXPECT_TRUE(warnings_of({10, 10, 20, 10, 10}, FrameRate{25, 1}).empty());
  const auto warnings = warnings_of({10, 10, 20, 10, 30}, std::nullopt);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("frame 2 lasts 800 ms, earlier ones 400"), std::string::npos) << warnings[0];
}

TEST_F(AvSource, GivesFramesInOrderOnly) {
  const auto source = open_frame_source(options(write_file("a.ppm", portable_pixmap(4, 4, kGrey))));
  expect_error(ErrorKind::internal, "C63-SOURCE-ORDER", [&] { (void)read_frame(*source, 1); });
  EXPECT_EQ(read_frame(*source, 0), kGreyFrame);
  EXPECT_EQ(read_frame(*source, 1), "");
  EXPECT_EQ(read_frame(*source, 1), "");
}

TEST_F(AvSource, SizeChangeIsAnErrorAfterTheFramesBeforeIt) {
  const auto source =
      open_frame_source(options(write_file("a.ppm", portable_pixmap(4, 4, kGrey) + portable_pixmap(8, 4, kWhite))));
  EXPECT_EQ(read_frame(*source, 0), kGreyFrame);
  expect_error(
      ErrorKind::input, "C63-AV-SIZE-CHANGE", [&] { (void)read_frame(*source, 1); },
      [](const Error& error) { EXPECT_EQ(error.place().frame, 1); });
}

TEST_F(AvSource, PictureThatDoesNotDecodeIsAnErrorAfterTheFramesBeforeIt) {
  const std::string whole = portable_pixmap(4, 4, kGrey);
  const auto source = open_frame_source(options(write_file("a.ppm", whole + whole + whole.substr(0, 30))));
  EXPECT_EQ(read_frame(*source, 0), kGreyFrame);
  EXPECT_EQ(read_frame(*source, 1), kGreyFrame);
  expect_error(
      ErrorKind::input, "C63-AV-DECODE", [&] { (void)read_frame(*source, 2); },
      [](const Error& error) { EXPECT_EQ(error.place().frame, 2); });
}

TEST_F(AvSource, EmptyAndGarbageFiles) {
  for (const std::string& content : {std::string(), std::string("garbage"), test::sample_bytes(100000)}) {
    const std::string path = write_file("a.mp4", content);
    expect_error(
        ErrorKind::input, "C63-AV-OPEN", [&] { (void)open_frame_source(options(path)); },
        [&](const Error& error) { EXPECT_EQ(error.place().file, path); });
  }
  const test::PipedInput input(test::sample_bytes(100000));
  expect_error(ErrorKind::input, "C63-AV-OPEN", [&] { (void)open_frame_source(options("-")); });
}

TEST_F(AvSource, HoldsTheLimits) {
  SourceOptions limited = options(write_file("a.ppm", portable_pixmap(64, 64, kGrey)));
  limited.limits.max_pixels = 64 * 64 - 1;
  expect_error(ErrorKind::limit, "C63-MAX-PIXELS", [&] { (void)open_frame_source(limited); });
  limited.limits = {.max_memory = 64 * 64};
  expect_error(ErrorKind::limit, "C63-MAX-MEMORY", [&] { (void)open_frame_source(limited); });
}

TEST_F(AvSource, StandardSequencesDecodeToTheirChecksums) {
  const std::string foreman = test::shared_path("sequences/foreman_352x288.264").string();
  if (!std::filesystem::exists(foreman)) GTEST_SKIP() << "no file " << foreman << " (set C63_SHARED_DATA)";
  const auto source = open_frame_source(options(foreman));
  EXPECT_EQ(source->format().width, 352);
  EXPECT_EQ(source->format().height, 288);
  EXPECT_EQ(tools::sha256(read_all(*source)), "6561c4b33e0f209bc6ed00198b2e89af265a063a7661c45cb7e6ff05775232dc");
  const test::PipedInput input(test::read_file(test::shared_path("sequences/mobile_352x288.264").string()));
  EXPECT_EQ(tools::sha256(read_all(*open_frame_source(options("-")))),
            "9aee48517b51875dbd0ed7f406bcc1040a3b5a2b5434737f3581c322fb12338a");
  EXPECT_TRUE(warnings_.empty());
}

#else

TEST_F(AvSource, IsRefusedWithoutFfmpeg) {
  const std::string path = write_file("a.mp4", "anything");
  expect_error(ErrorKind::input, "C63-NO-FFMPEG", [&] { (void)open_frame_source(options(path)); });
}

#endif

TEST_F(AvSource, ASizeMakesUnknownNamesRaw) {
  SourceOptions sized = options(write_file("a.bin", test::sample_bytes(24)));
  sized.width = 4;
  sized.height = 4;
  EXPECT_TRUE(open_frame_source(sized)->seekable());
  sized.path = write_file("a.mp4", test::sample_bytes(24));
#ifdef C63_HAVE_FFMPEG
  expect_error(ErrorKind::input, "C63-AV-OPEN", [&] { (void)open_frame_source(sized); });
#endif
  sized.format = SourceFormat::raw;
  EXPECT_EQ(read_all(*open_frame_source(sized)), test::sample_bytes(24));
}

}  // namespace
}  // namespace c63
