#include "tools_test_support.h"

// Tests the module for FFmpeg: in which folders c63 looks for it, the errors if it is missing, is of another version or
// does not load, which files it refuses, and that decoders keep the memory limit.

namespace c63::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "libc63_ffmpeg.so";

class MediaModule : public ToolsTest {
 protected:
  void SetUp() override {
    picture_ = write_file("a.ppm", "P6\n16 16\n255\n" + std::string(16 * 16 * 3, 'x'));
  }

  /// Copies c63enc to the folder "bin" of this test, where no module is next to it. Returns the copy's path.
  [[nodiscard]] std::string lone_encoder() const {
    fs::create_directory(path("bin"));
    fs::copy_file(kEnc, path("bin/c63enc"));
    return path("bin/c63enc");
  }

  [[nodiscard]] ProcessResult encode(const std::string& program, const std::string& input) const {
    return run({program, "--quiet", "--backend", "cpu", input, "-o", path("o.c63")});
  }

  static void expect_no_ffmpeg(const ProcessResult& result) { expect_one_line(result, 4, "c63enc", "C63-NO-FFMPEG"); }

  std::string picture_;
};

TEST_F(MediaModule, WithoutItOnlyInputsThatNeedItFail) {
  const std::string encoder = lone_encoder();
  if (fs::exists(fs::path(C63_MODULE_DIR) / kModule)) GTEST_SKIP() << "c63's module is installed in " << C63_MODULE_DIR;
  expect_no_ffmpeg(encode(encoder, picture_));
  expect_no_ffmpeg(encode(encoder, write_file("a.y4m", "YUV4MPEG2 W16 H16 C444\nFRAME\n" + std::string(16 * 16 * 3, 'x'))));
  EXPECT_EQ(encode(encoder, write_file("a_16x16.yuv", std::string(16 * 16 * 3 / 2, 'x'))).exit_code, 0);
  EXPECT_EQ(run({encoder, "--version"}).exit_code, 0);
}

TEST_F(MediaModule, OfAnotherVersionIsRefusedWithAMessage) {
  const std::string encoder = lone_encoder();
  fs::copy_file(C63_OTHER_MODULE, path("bin/") + kModule);
  expect_no_ffmpeg(encode(encoder, picture_));
}

TEST_F(MediaModule, TheLoaderSaysWhatIsMissing) {
  const std::string encoder = lone_encoder();
  fs::copy_file(C63_MODULE_WITHOUT_LIBRARY, path("bin/") + kModule);
  expect_no_ffmpeg(encode(encoder, picture_));
  fs::remove(path("bin/") + kModule);
  write_file(std::string("bin/") + kModule, "no library");
  expect_no_ffmpeg(encode(encoder, picture_));
}

#if defined(C63_HAVE_FFMPEG)

TEST_F(MediaModule, IsFoundNextToTheProgramAndInItsInstalledFolder) {
  const std::string encoder = lone_encoder();
  for (const std::string folder : {"bin", "bin/c63", "bin/" C63_MODULE_FROM_PROGRAMS}) {
    SCOPED_TRACE(folder);
    const fs::path there = fs::path(path(folder)).lexically_normal();
    fs::create_directories(there);
    fs::copy_file(C63_FFMPEG_MODULE, there / kModule);
    const ProcessResult result = encode(encoder, picture_);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    fs::remove(there / kModule);
  }
}

TEST_F(MediaModule, TextThatFfmpegReadsIsNotOpened) {
  // In this script, each block contains the previous one twice. It has 763 bytes, but FFmpeg's reader of such scripts
  // would take 600 MB for it.
  std::string script = "a: 200+4/20\nb0: {\n+00:00:00 a\n+00:00:01 a\n}\n";
  for (int i = 1; i <= 20; ++i) {
    const std::string of = "b" + std::to_string(i - 1);
    script += "b" + std::to_string(i) + ": {\n+00:00:00 " + of + "\n+00:00:01 " + of + "\n}\n";
  }
  const std::uint64_t base = encode(kEnc, picture_).peak_bytes;
  for (const std::string& text :
       {script + "NOW b20\n", std::string("1\n00:00:01,000 --> 00:00:02,000\nx\n\n"),
        std::string("WEBVTT\n\n00:01.000 --> 00:02.000\nx\n"), std::string("<SAMI>\n<BODY>\n<SYNC Start=1>x\n"),
        std::string("{1}{2}x\n{3}{4}y\n{5}{6}z\n"), std::string("[Script Info]\nScriptType: v4.00+\n"),
        std::string(";FFMETADATA1\n[STREAM]\na=b\n")}) {
    const ProcessResult result = encode(kEnc, write_file("a.mp4", text));
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_EQ(lines_in(result.err), 1) << result.err;
    EXPECT_NE(result.err.find("[C63-AV-FORMAT]"), std::string::npos) << result.err;
    EXPECT_LT(result.peak_bytes, base + (16 << 20)) << result.err;
  }
}

TEST_F(MediaModule, DecodersKeepTheLimitOfMemory) {
  const std::string large = write_file("a.ppm", "P6\n1024 1024\n255\n" + std::string(1024 * 1024 * 3, 'x'));
  const ProcessResult result = run({kCmp, large, large, "--max-memory", "2MiB"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_NE(result.err.find("[C63-MAX-MEMORY]"), std::string::npos) << result.err;
}

#endif

}  // namespace
}  // namespace c63::test
