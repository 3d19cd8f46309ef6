#include <map>

#include "support/shared_data.h"
#include "tools_test_support.h"

// Runs the programs as users do. Streams and decoded videos must be those of the course codec.

namespace c63::test {
namespace {

class GoldenVideos : public ToolsTest, public ::testing::WithParamInterface<GoldenVideo> {};

// The library's tests try all pairs of a thread count and a lane count. Here, each small video tries one pair. Only the long
// video has enough key frames for several lanes.
TEST_P(GoldenVideos, EncodeAndDecodeFromFileAndPipe) {
  const GoldenVideo& v = GetParam();
  const std::string video = generate(v);
  const std::string input = write_file("in.yuv", video);
  const bool has_work = v.frames > 100;
  constexpr int kThreads[] = {1, 2, 5};
  const int variant = v.width / 2 + v.height;
  const auto encode = [&](int lanes, const std::vector<std::string>& more, std::string_view standard_input) {
    const std::vector<std::string> command = {kEnc, "--quiet", "-w", std::to_string(v.width), "-h", std::to_string(v.height), "--threads",
                                              std::to_string(kThreads[(lanes + variant / 3) % 3]), "--lanes", std::to_string(lanes)};
    return expect_success(run(joined(command, more), standard_input)).out;
  };
  const int first = has_work ? 1 : 1 + variant % 3;
  for (int lanes = first; lanes <= (has_work ? 7 : first); ++lanes) {
    EXPECT_EQ(tools::md5(encode(lanes, {"-o", "-", input}, {})), v.stream_md5) << lanes;
    EXPECT_EQ(tools::md5(encode(lanes, {"-o", "-", "-"}, video)), v.stream_md5) << lanes;
  }
  encode(2, {"--verify", "--recon", path("recon.yuv"), "--pred", path("pred.yuv"), "-o", path("s.c63"), input}, {});
  EXPECT_EQ(read_file(path("s.c63")).size(), v.stream_bytes);
  EXPECT_EQ(tools::md5(read_file(path("s.c63"))), v.stream_md5);
  EXPECT_EQ(tools::md5(read_file(path("recon.yuv"))), v.decoded_md5);
  EXPECT_EQ(run({kPred, "--quiet", path("s.c63"), "-"}).out, read_file(path("pred.yuv")));
  EXPECT_EQ(run({kDec, path("s.c63"), path("out.yuv")}).exit_code, 0);
  EXPECT_EQ(tools::md5(read_file(path("out.yuv"))), v.decoded_md5);
  EXPECT_EQ(tools::md5(run({kDec, "--quiet", "-", "-", "--threads", "5"}, read_file(path("s.c63"))).out), v.decoded_md5);
  EXPECT_EQ(run({kDec, "--quiet", path("s.c63"), "--md5"}).out, std::string(v.decoded_md5) + "  -\n");
  EXPECT_EQ(files_in_folder(), 5);
}

INSTANTIATE_TEST_SUITE_P(Generators, GoldenVideos, ::testing::ValuesIn(kGoldenVideos),
                         [](const auto& video) { return name(video.param); });

/// Tests with real sequences, for which the results of the course codec are known.
class GoldenFiles : public ToolsTest {
 protected:
  void SetUp() override {
    C63_NEEDS_SHARED("golden/manifest.tsv");
    std::ifstream manifest(shared_path("golden/manifest.tsv"));
    for (std::string name, bytes, hash; manifest >> name >> bytes >> hash;) sha256_[name] = hash;
  }

  [[nodiscard]] static std::string sha256_of(const std::string& file) { return tools::sha256(read_bytes(file)); }

  void encode_and_decode(const std::string& sequence, const std::string& base, const std::string& summary) {
    const std::string input = shared_path("sequences/" + sequence).string();
    const ProcessResult encoded = expect_success(run({kEnc, "-o", path("s.c63"), input, "--ssim"}));
    EXPECT_EQ(sha256_of(path("s.c63")), sha256_[base + ".c63"]);
    EXPECT_NE(encoded.err.find(summary), std::string::npos) << encoded.err;
    expect_success(run({kDec, path("s.c63"), path("d.yuv")}));
    EXPECT_EQ(sha256_of(path("d.yuv")), sha256_[base + ".dec.yuv"]);
    expect_success(run({kPred, path("s.c63"), path("p.yuv")}));
    EXPECT_EQ(sha256_of(path("p.yuv")), sha256_[base + ".pred.yuv"]);
  }

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
