#include <cstdlib>
#include <map>

#include "tools_test_support.h"

// Runs the programs as users do. Streams and decoded videos must be those of the course codec.

namespace c63::test {
namespace {

class GoldenVideos : public ToolsTest, public ::testing::WithParamInterface<GoldenVideo> {
 protected:
  [[nodiscard]] static std::vector<std::string> encode_command(const std::string& output, const std::string& input,
                                                               int threads, int lanes) {
    const GoldenVideo& v = GetParam();
    return {kEnc,      "-w",        std::to_string(v.width), "-h",      std::to_string(v.height), "-o", output, input,
            "--quiet", "--threads", std::to_string(threads), "--lanes", std::to_string(lanes)};
  }
};

TEST_P(GoldenVideos, EncodeFromFileToFile) {
  const std::string input = write_file("in.yuv", generate(GetParam()));
  const ProcessResult result = run({kEnc, "-w", std::to_string(GetParam().width), "-h",
                                    std::to_string(GetParam().height), "-o", path("out.c63"), input});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const std::string stream = read_file(path("out.c63"));
  EXPECT_EQ(stream.size(), GetParam().stream_bytes);
  EXPECT_EQ(md5_of(stream), GetParam().stream_md5);
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_P(GoldenVideos, EncodeOnAnyNumberOfThreadsAndLanesFromFileAndPipe) {
  const std::string video = generate(GetParam());
  const std::string input = write_file("in.yuv", video);
  // Only the long video has enough key frames for several lanes, so it tests 1 to 7 lanes. Each small video tests one
  // pair of a thread count and a lane count. The library's tests try all pairs.
  const bool has_work = GetParam().frames > 100;
  constexpr int kThreads[] = {1, 2, 5};
  const int turn = GetParam().width / 2 + GetParam().height;
  for (int lanes = has_work ? 1 : 1 + turn % 3; lanes <= (has_work ? 7 : 1 + turn % 3); ++lanes) {
    const int threads = kThreads[(lanes + turn / 3) % 3];
    SCOPED_TRACE(testing::Message() << threads << " threads, " << lanes << " lanes");
    const ProcessResult file = run(encode_command("-", input, threads, lanes));
    EXPECT_EQ(file.exit_code, 0) << file.err;
    EXPECT_EQ(md5_of(file.out), GetParam().stream_md5);
    const ProcessResult pipe = run(encode_command("-", "-", threads, lanes), video);
    EXPECT_EQ(pipe.exit_code, 0) << pipe.err;
    EXPECT_EQ(md5_of(pipe.out), GetParam().stream_md5);
  }
}

TEST_P(GoldenVideos, DecodeFromFileAndPipe) {
  const std::string input = write_file("in.yuv", generate(GetParam()));
  ASSERT_EQ(run(encode_command(path("s.c63"), input, 1, 1)).exit_code, 0);
  const ProcessResult file = run({kDec, path("s.c63"), path("out.yuv")});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_EQ(md5_of(read_file(path("out.yuv"))), GetParam().decoded_md5);
  const ProcessResult pipe = run({kDec, "--quiet", "-", "-", "--threads", "5"}, read_file(path("s.c63")));
  EXPECT_EQ(pipe.exit_code, 0) << pipe.err;
  EXPECT_EQ(md5_of(pipe.out), GetParam().decoded_md5);
  const ProcessResult sum = run({kDec, "--quiet", path("s.c63"), "--md5"});
  EXPECT_EQ(sum.out, std::string(GetParam().decoded_md5) + "  -\n");
}

TEST_P(GoldenVideos, VerifyAgreesAndReconstructionIsWhatIsDecoded) {
  const std::string input = write_file("in.yuv", generate(GetParam()));
  auto command = encode_command(path("s.c63"), input, 2, 2);
  for (const char* option : {"--verify", "--recon"}) command.emplace_back(option);
  command.push_back(path("recon.yuv"));
  command.insert(command.end(), {"--pred", path("pred.yuv")});
  const ProcessResult result = run(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(md5_of(read_file(path("s.c63"))), GetParam().stream_md5);
  EXPECT_EQ(md5_of(read_file(path("recon.yuv"))), GetParam().decoded_md5);
  const ProcessResult prediction = run({kPred, "--quiet", path("s.c63"), "-"});
  EXPECT_EQ(prediction.exit_code, 0) << prediction.err;
  EXPECT_EQ(prediction.out, read_file(path("pred.yuv")));
}

INSTANTIATE_TEST_SUITE_P(Generators, GoldenVideos, ::testing::ValuesIn(kGoldenVideos),
                         [](const auto& video) { return name(video.param); });

/// Tests with real sequences, for which the results of the course codec are known.
class GoldenFiles : public ToolsTest {
 protected:
  void SetUp() override {
    const char* set = std::getenv("C63_SHARED_DATA");
    root_ = set != nullptr ? set : C63_SHARED_DATA;
    std::ifstream manifest(root_ / "golden" / "manifest.tsv");
    for (std::string name, bytes, hash; manifest >> name >> bytes >> hash;) sha256_[name] = hash;
    if (sha256_.empty()) GTEST_SKIP() << "no golden files in " << root_ << " (C63_SHARED_DATA)";
  }

  /// Returns the SHA-256 of a file, computed by the sha256sum program.
  [[nodiscard]] static std::string sha256_of(const std::string& file) {
    const ProcessResult result = run({"/usr/bin/sha256sum", file});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out.substr(0, 64);
  }

  void encode_and_decode(const std::string& sequence, const std::string& base, const std::string& summary) {
    const std::string input = (root_ / "sequences" / sequence).string();
    const ProcessResult encoded = run({kEnc, "-o", path("s.c63"), input, "--ssim"});
    ASSERT_EQ(encoded.exit_code, 0) << encoded.err;
    EXPECT_EQ(sha256_of(path("s.c63")), sha256_[base + ".c63"]);
    EXPECT_NE(encoded.err.find(summary), std::string::npos) << encoded.err;
    const ProcessResult decoded = run({kDec, path("s.c63"), path("d.yuv")});
    EXPECT_EQ(decoded.exit_code, 0) << decoded.err;
    EXPECT_EQ(sha256_of(path("d.yuv")), sha256_[base + ".dec.yuv"]);
    const ProcessResult predicted = run({kPred, path("s.c63"), path("p.yuv")});
    EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
    EXPECT_EQ(sha256_of(path("p.yuv")), sha256_[base + ".pred.yuv"]);
  }

  std::filesystem::path root_;
  std::map<std::string, std::string> sha256_;
};

TEST_F(GoldenFiles, People) {
  encode_and_decode("people_320x192.yuv", "people_320x192", "key 1, inter 8; PSNR Y 37.055");
}

TEST_F(GoldenFiles, StaticWithAWidthThatIsNotAMultipleOf16) {
  encode_and_decode("static_152x100.yuv", "static_152x100", "38676 bytes");
}

#if defined(C63_HAVE_FFMPEG)
TEST_F(GoldenFiles, MobileThroughFfmpeg) { encode_and_decode("mobile_352x288.264", "mobile_352x288", "888212 bytes"); }

TEST_F(GoldenFiles, ForemanThroughFfmpeg) {
  encode_and_decode("foreman_352x288.264", "foreman_352x288",
                    "key 3, inter 297; PSNR Y 36.611 U 43.976 V 43.727 all 37.980");
}
#endif

}  // namespace
}  // namespace c63::test
