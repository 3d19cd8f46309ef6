#include "c63/frame_source.h"
#include "io_test_support.h"

namespace c63 {
namespace {

using test::expect_error;
using test::read_all;
using test::read_frame;
using test::sample_bytes;

class Y4mSource : public test::SourceTest {
 protected:
  std::unique_ptr<FrameSource> open(const std::string& content) {
    return open_frame_source(options(write_file("a.y4m", content)));
  }
  /// Expects that opening this content or reading all of it fails with this error, both from a file and from a pipe.
  void expect_fault(const std::string& content, const std::string& id, std::optional<std::int64_t> frame,
                    std::optional<std::int64_t> offset, ErrorKind kind = ErrorKind::input) {
    const auto check = [&](const Error& error) {
      EXPECT_EQ(error.place().frame, frame) << error.what();
      EXPECT_EQ(error.place().offset, offset) << error.what();
      EXPECT_FALSE(error.place().file.empty());
    };
    expect_error(
        kind, id, [&] { (void)read_all(*open(content)); }, check);
    const test::PipedInput input(content);
    expect_error(
        kind, id, [&] { (void)read_all(*open_frame_source(options("-"))); }, check);
  }
};

const std::string kHeader = "YUV4MPEG2 W4 H4 F30:1 Ip A1:1 C420mpeg2 XANY=THING\n";  // 51 bytes

TEST_F(Y4mSource, ReadsEveryKindOf420InAnyOrder) {
  const std::string a = sample_bytes(24, 1);
  const std::string b = sample_bytes(24, 2);
  for (const std::string chroma : {"", " C420", " C420jpeg", " C420mpeg2", " C420paldv"}) {
    const auto source = open("YUV4MPEG2 H4 W4" + chroma + " F30000:1001\nFRAME\n" + a + "FRAME Ip XABC\n" + b);
    EXPECT_EQ(source->format().rate.numerator, 30000);
    EXPECT_TRUE(source->seekable() && source->concurrent());
    EXPECT_EQ(read_frame(*source, 1), b);
    EXPECT_EQ(read_frame(*source, 0), a);
    EXPECT_EQ(read_frame(*source, 2), "");
    EXPECT_EQ(source->frame_count(), 2);
  }
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(Y4mSource, LongFrameLines) {
  const std::string a = sample_bytes(24, 1);
  const auto source = open(kHeader + "FRAME X" + std::string(3000, 'y') + "\n" + a + "FRAME\n" + a);
  EXPECT_EQ(source->frame_count(), 2);
  EXPECT_EQ(read_all(*source), a + a);
  expect_fault(kHeader + "FRAME X" + std::string(5000, 'y') + "\n" + a, "C63-Y4M-FRAME", 0, 51);
}

TEST_F(Y4mSource, IsKnownByContentAndReadFromAPipe) {
  const std::string a = sample_bytes(24);
  const std::string content = kHeader + "FRAME\n" + a + "FRAME\n" + a;
  EXPECT_EQ(read_all(*open_frame_source(options(write_file("misnamed_8x8.yuv", content)))), a + a);
  const test::PipedInput input(content);
  const auto source = open_frame_source(options("-"));
  EXPECT_FALSE(source->seekable());
  EXPECT_EQ(source->frame_count(), std::nullopt);
  EXPECT_EQ(read_all(*source), a + a);
}

TEST_F(Y4mSource, HeaderAloneHasNoFrames) {
  const auto source = open(kHeader);
  EXPECT_EQ(source->frame_count(), 0);
  EXPECT_EQ(read_all(*source), "");
}

TEST_F(Y4mSource, RateFromOptionsComesFirstAndUnknownRateIs25) {
  SourceOptions with_rate = options(write_file("a.y4m", kHeader));
  with_rate.rate = FrameRate{50, 1};
  EXPECT_EQ(open_frame_source(with_rate)->format().rate.value(), 50);
  EXPECT_EQ(open("YUV4MPEG2 W4 H4 F0:0\n")->format().rate.value(), 25);
}

TEST_F(Y4mSource, SizeFromOptionsMustAgree) {
  SourceOptions other = options(write_file("a.y4m", kHeader));
  other.width = 8;
  other.height = 4;
  expect_error(ErrorKind::usage, "C63-SIZE-MISMATCH", [&] { (void)open_frame_source(other); });
  other.width = 4;
  EXPECT_EQ(open_frame_source(other)->format().width, 4);
}

TEST_F(Y4mSource, OddSidesArePaddedWithOneWarning) {
  // 3x3: chroma 2x2.
  const auto source = open("YUV4MPEG2 W3 H3\nFRAME\nabcdefghi1234WXYZFRAME\nabcdefghi1234WXYZ");
  EXPECT_EQ(source->format().width, 4);
  EXPECT_EQ(source->format().height, 4);
  EXPECT_EQ(read_frame(*source, 0), "abccdeffghiighii1234WXYZ");
  EXPECT_EQ(read_frame(*source, 1), "abccdeffghiighii1234WXYZ");
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(Y4mSource, TellsTheRangeOfItsSamples) {
  const std::string frame = "\nFRAME\nyyyyuv";
  EXPECT_TRUE(open("YUV4MPEG2 W2 H2 C420jpeg XCOLORRANGE=FULL" + frame)->full_range());
  for (const std::string header : {"YUV4MPEG2 W2 H2 C420jpeg", "YUV4MPEG2 W2 H2 XCOLORRANGE=LIMITED", "YUV4MPEG2 W2 H2 XYSCSS=420"}) {
    EXPECT_FALSE(open(header + frame)->full_range()) << header;
  }
}

TEST_F(Y4mSource, OneSample) { EXPECT_EQ(read_all(*open("YUV4MPEG2 W1 H1\nFRAME\nyuv")), "yyyyuv"); }

TEST_F(Y4mSource, MalformedHeaders) {
  expect_fault("YUV4MPEG2 W4 H4", "C63-Y4M-HEADER", {}, 15);
  expect_fault("YUV4MPEG2 \n", "C63-Y4M-HEADER", {}, 0);
  expect_fault("YUV4MPEG2 W4\n", "C63-Y4M-HEADER", {}, 0);
  expect_fault("YUV4MPEG2 W0 H4\n", "C63-Y4M-HEADER", {}, 10);
  expect_fault("YUV4MPEG2 W4 H-4\n", "C63-Y4M-HEADER", {}, 13);
  expect_fault("YUV4MPEG2 W4 H\n", "C63-Y4M-HEADER", {}, 13);
  expect_fault("YUV4MPEG2 W4x H4\n", "C63-Y4M-HEADER", {}, 10);
  expect_fault("YUV4MPEG2 W99999999999 H4\n", "C63-Y4M-HEADER", {}, 10);
  expect_fault("YUV4MPEG2 W4 H4 F25\n", "C63-Y4M-HEADER", {}, 16);
  expect_fault("YUV4MPEG2 W4 H4 C\n", "C63-Y4M-HEADER", {}, 16);
  expect_fault("YUV4MPEG2 W4 H4 Q7\n", "C63-Y4M-HEADER", {}, 16);
  expect_fault("YUV4MPEG2 " + std::string(5000, 'X'), "C63-Y4M-HEADER", {}, 4097);
  expect_fault("YUV4MPEG2 W4 H4 Cpalette\n", "C63-Y4M-COLOUR", {}, {});
}

TEST_F(Y4mSource, JunkThatClaimsToBeY4m) {
  for (const std::string junk : {"", "\n", "junk\n", "YUV4MPEG\n"}) {
    SourceOptions forced = options(write_file("a.y4m", junk));
    forced.format = SourceFormat::y4m;
    expect_error(ErrorKind::input, "C63-Y4M-HEADER", [&] { (void)open_frame_source(forced); });
  }
}

TEST_F(Y4mSource, HugeSizesAreRefusedBeforeAnythingIsAllocated) {
  expect_fault("YUV4MPEG2 W65536 H4\nFRAME\n", "C63-SIZE-RANGE", {}, {}, ErrorKind::limit);
  expect_fault("YUV4MPEG2 W2147483647 H2147483647 C444p16\nFRAME\n", "C63-SIZE-RANGE", {}, {}, ErrorKind::limit);
  SourceOptions limited = options(write_file("a.y4m", "YUV4MPEG2 W65534 H65534 C444p16\nFRAME\n"));
  limited.limits.max_pixels = 1 << 20;
  expect_error(ErrorKind::limit, "C63-MAX-PIXELS", [&] { (void)open_frame_source(limited); });
  limited.limits = {.max_memory = 1 << 30};
  expect_error(ErrorKind::limit, "C63-MAX-MEMORY", [&] { (void)open_frame_source(limited); });
}

TEST_F(Y4mSource, MalformedFrameLines) {
  const std::string a = sample_bytes(24);
  expect_fault(kHeader + "FRAME\n" + a + "FRANE\n" + a, "C63-Y4M-FRAME", 1, 81);
  expect_fault(kHeader + "FRAMES\n" + a, "C63-Y4M-FRAME", 0, 51);
  expect_fault(kHeader + "junk", "C63-Y4M-FRAME", 0, 51);
}

TEST_F(Y4mSource, EveryTruncationIsReportedAndWholeFramesComeFirst) {
  const std::string a = sample_bytes(24);
  const std::string whole = kHeader + "FRAME\n" + a + "FRAME\n" + a;
  for (std::size_t size = 82; size < whole.size(); ++size) {
    const auto source = open(whole.substr(0, size));
    EXPECT_EQ(source->frame_count(), 2) << size;
    EXPECT_EQ(read_frame(*source, 0), a);
    expect_fault(whole.substr(0, size), "C63-Y4M-TRUNCATED", 1, static_cast<std::int64_t>(size));
  }
}

#ifdef C63_HAVE_FFMPEG

TEST_F(Y4mSource, OtherLayoutsAreConvertedAsFfmpegDoes) {
  for (const auto& [chroma, bytes] : {std::pair{"411", 16 * 6 * 3 / 2},
                                      {"422", 16 * 6 * 2},
                                      {"444", 16 * 6 * 3},
                                      {"444alpha", 16 * 6 * 4},
                                      {"mono", 16 * 6},
                                      {"mono10", 16 * 6 * 2},
                                      {"420p10", 16 * 6 * 3},
                                      {"422p12", 16 * 6 * 4},
                                      {"444p16", 16 * 6 * 6}}) {
    warnings_.clear();
    std::string content = "YUV4MPEG2 W16 H6 F25:1 Ip A1:1 C" + std::string(chroma) + "\n";
    for (const unsigned seed : {1, 2, 3}) content += "FRAME\n" + sample_bytes(static_cast<std::size_t>(bytes), seed);
    const auto source = open(content);
    ASSERT_EQ(warnings_.size(), 1U) << chroma;
    SourceOptions by_ffmpeg = options(path("a.y4m"));
    by_ffmpeg.format = SourceFormat::av;
    const std::string expected = read_all(*open_frame_source(by_ffmpeg));
    EXPECT_EQ(expected.size(), 3U * 144);
    EXPECT_EQ(read_all(*source), expected) << chroma;
  }
}

TEST_F(Y4mSource, OddSidesOfOtherLayouts) {
  const std::string grey(9, '\x80');
  const auto source = open("YUV4MPEG2 W3 H3 C444\nFRAME\n" + grey + grey + grey);
  EXPECT_EQ(warnings_.size(), 2U);
  EXPECT_EQ(read_all(*source), std::string(24, '\x80'));
}

#else

TEST_F(Y4mSource, OtherLayoutsNeedFfmpeg) {
  expect_fault("YUV4MPEG2 W4 H4 C422\n", "C63-NO-FFMPEG", {}, {}, ErrorKind::input);
}

#endif

}  // namespace
}  // namespace c63
