// Tests c63dec: lists, ranges, key frames, output formats. Also tests that every program knows a stream by its content,
// whatever the file's name is.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tools_test_support.h"

namespace c63::test {
namespace {

constexpr std::size_t kFrame = 48 * 32 * 3 / 2;
constexpr int kFrames = 9;

class DecodeProgram : public ToolsTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({kGen, "--quiet", "-w", "48", "-h", "32", "-f", "9", "-o", path("in.yuv")}).exit_code, 0);
    ASSERT_EQ(run({kEnc, "--quiet", "--backend", "cpu", "--keyint", "4", "-w", "48", "-h", "32", "-o", path("s.c63"), path("in.yuv")}).exit_code, 0);
    stream_ = path("s.c63");
    pictures_ = run({kDec, "--quiet", stream_, "-"}).out;
    ASSERT_EQ(pictures_.size(), kFrames * kFrame);
  }

  [[nodiscard]] std::string frames(std::initializer_list<int> numbers) const {
    std::string all;
    for (const int i : numbers) all += pictures_.substr(static_cast<std::size_t>(i) * kFrame, kFrame);
    return all;
  }

  std::string stream_;
  std::string pictures_;
};

TEST_F(DecodeProgram, ListsFrames) {
  const ProcessResult result = expect_success(run({kDec, "--quiet", "--list", stream_}));
  std::istringstream lines(result.out);
  std::string line;
  std::getline(lines, line);
  std::uint64_t next = 0;
  for (int i = 0; i < kFrames; ++i) {
    std::int64_t frame = -1;
    std::uint64_t offset = 1;
    std::uint64_t bytes = 0;
    std::string kind;
    std::string tables;
    ASSERT_TRUE(lines >> frame >> offset >> bytes >> kind >> tables) << result.out;
    EXPECT_EQ(frame, i);
    EXPECT_EQ(offset, next);
    EXPECT_EQ(kind, i % 4 == 0 ? "key" : "inter");
    EXPECT_EQ(tables, "0");
    next = offset + bytes;
  }
  EXPECT_EQ(next, read_file(stream_).size());
  const ProcessResult part = expect_success(run({kDec, "--quiet", "--list", "--seek", "2", "-f", "3", stream_}));
  const auto begin = result.out.find("\n       2 ") + 1;
  EXPECT_EQ(part.out, result.out.substr(0, result.out.find('\n') + 1) + result.out.substr(begin, result.out.find("\n       5 ") + 1 - begin));

  const std::string whole = read_file(stream_);
  const ProcessResult cut = run({kDec, "--quiet", "--list", write_file("cut.c63", whole.substr(0, whole.size() - 3))});
  EXPECT_EQ(lines_in(cut.out), kFrames);  // includes the heading
  expect_one_line(cut, 4, "c63dec", "C63-TRUNCATED");
  // With --list, c63dec also writes the other outputs that are requested, here statistics.
  const ProcessResult with_statistics = expect_success(run({kDec, "--list", "--stats", stream_}));
  EXPECT_EQ(with_statistics.out, result.out);
}

TEST_F(DecodeProgram, WritesAnIndex) {
  ASSERT_EQ(run({kDec, "--quiet", "--index", path("i.json"), stream_, path("o.yuv")}).exit_code, 0);
  EXPECT_EQ(read_file(path("o.yuv")), pictures_);
  const auto index = nlohmann::json::parse(read_file(path("i.json")));
  EXPECT_EQ(index.at("width"), 48);
  EXPECT_EQ(index.at("height"), 32);
  ASSERT_EQ(index.at("frames").size(), static_cast<std::size_t>(kFrames));
  EXPECT_EQ(index.at("frames").at(4).at("kind"), "key");
  ASSERT_EQ(index.at("tables").size(), 1U);
  ASSERT_EQ(index.at("tables").at(0).size(), 3U);
  const std::string stream = read_file(stream_);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(index.at("tables").at(0).at(0).at(i), static_cast<std::uint8_t>(stream[7 + i]));
  }
}

TEST_F(DecodeProgram, RangesAndKeyFrames) {
  const std::string bytes = read_file(stream_);
  // c63dec can jump to a frame in a file. It must read a pipe in order. Both must give the same frames.
  for (const std::string& input : {stream_, std::string("-")}) {
    const auto decoded = [&](std::vector<std::string> options) {
      options.insert(options.begin(), {kDec, "--quiet"});
      options.insert(options.end(), {input, "-"});
      return run(options, input == "-" ? std::string_view(bytes) : std::string_view()).out;
    };
    EXPECT_EQ(decoded({"--seek", "6"}), frames({6, 7, 8}));
    EXPECT_EQ(decoded({"--seek", "3", "-f", "2"}), frames({3, 4}));
    EXPECT_EQ(decoded({"--key-frames"}), frames({0, 4, 8}));
    EXPECT_EQ(decoded({"--key-frames", "-f", "2"}), frames({0, 4}));
    EXPECT_EQ(decoded({"--key-frames", "--seek", "1", "-f", "1"}), frames({4}));
    EXPECT_EQ(decoded({"--key-frames", "--seek", "4"}), frames({4, 8}));
  }
}

TEST_F(DecodeProgram, OutputFormats) {
  const std::string y4m = run({kDec, "--quiet", "--output-format", "y4m", stream_, "-"}).out;
  EXPECT_TRUE(y4m.starts_with("YUV4MPEG2 W48 H32 "));
  EXPECT_TRUE(y4m.ends_with("FRAME\n" + frames({8})));
  ASSERT_EQ(run({kDec, "--quiet", "--output-format", "raw", stream_, path("o.y4m")}).exit_code, 0);
  EXPECT_EQ(read_file(path("o.y4m")), pictures_);
}

TEST_F(DecodeProgram, SeeksByTime) {
  const auto decoded = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {kDec, "--quiet"});
    options.insert(options.end(), {stream_, "-"});
    return run(options).out;
  };
  EXPECT_EQ(decoded({"--seek", "0.24s"}), frames({6, 7, 8}));  // 25 frames a second
  EXPECT_EQ(decoded({"--seek", "239ms"}), frames({5, 6, 7, 8}));
  EXPECT_EQ(decoded({"--seek", "0:00.2", "--fps", "15", "-f", "1"}), frames({3}));
  EXPECT_EQ(decoded({"--seek", "0:00:00.28"}), frames({7, 8}));
}

TEST_F(DecodeProgram, WritesPictures) {
  ASSERT_EQ(run({kDec, "--quiet", "--seek", "7", stream_, path("100%%_%03d.ppm")}).exit_code, 0);
  EXPECT_EQ(files_in_folder(), 4);  // includes the video and the stream
  for (const int i : {7, 8}) {
    const std::string picture = read_file(path("100%_00" + std::to_string(i) + ".ppm"));
    const std::string header = "P6\n48 32\n255\n";
    ASSERT_EQ(picture.size(), header.size() + 3 * 48 * 32);
    ASSERT_TRUE(picture.starts_with(header));
    // BT.601, video range.
    const std::string_view frame = std::string_view(pictures_).substr(static_cast<std::size_t>(i) * kFrame, kFrame);
    const auto sample = [&](std::size_t at) { return static_cast<double>(static_cast<std::uint8_t>(frame[at])); };
    for (const std::size_t at : {std::size_t{0}, std::size_t{20 * 48 + 30}}) {
      const std::size_t chroma = at / 48 / 2 * 24 + at % 48 / 2;
      const double y = 255.0 / 219 * (sample(at) - 16);
      const double v = sample(48 * 32 * 5 / 4 + chroma) - 128;
      const double red = std::clamp(y + 1.402 * 255 / 224 * v, 0.0, 255.0);
      EXPECT_NEAR(static_cast<std::uint8_t>(picture[header.size() + 3 * at]), red, 1);
    }
  }
#ifdef C63_HAVE_FFMPEG
  ASSERT_EQ(run({kDec, "--quiet", "--seek", "3", "-f", "1", stream_, path("%d.png")}).exit_code, 0);
  EXPECT_TRUE(read_file(path("3.png")).starts_with("\x89PNG\r\n"));
#endif
}

TEST_F(DecodeProgram, DecodesOnAGpuOrSaysWhyNot) {
  const auto result = run({kDec, "--quiet", "--backend", "cuda", stream_, path("o.yuv")});
  if (result.exit_code == 0) {
    EXPECT_EQ(read_file(path("o.yuv")), pictures_);
  } else {
    expect_one_line(result, 8, "c63dec", "C63-NO-GPU");
  }
}

TEST_F(DecodeProgram, PicturesReplaceNeitherTheInputNorFilesThatAreToStay) {
  const std::string input = write_file("v3.ppm", read_file(stream_));
  expect_one_line(run({kDec, "--quiet", input, path("v%d.ppm")}), 2, "c63dec", "C63-SAME-FILE");
  EXPECT_EQ(read_file(input), read_file(stream_));
  write_file("w2.ppm", "older");
  expect_one_line(run({kDec, "--quiet", "-n", stream_, path("w%d.ppm")}), 6, "c63dec", "C63-OUTPUT-EXISTS");
  EXPECT_EQ(read_file(path("w2.ppm")), "older");
}

TEST_F(DecodeProgram, ReadsNothingNextToTheStream) {
  const auto said = [&] {
    std::string all;
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {kDec, "--quiet", stream_, "-"}, {kPred, "--quiet", stream_, "-"}, {kInfo, stream_}, {kCmp, "--quiet", stream_, stream_}}) {
      const ProcessResult result = expect_success(run(command));
      all += result.out + result.err;
    }
    return all;
  };
  const std::string before = said();
  expect_success(run({kEnc, "--quiet", "-q", "40", "-w", "48", "-h", "32", "--json", path("s.c63.json"), "-o", path("other.c63"), path("in.yuv")}));
  EXPECT_TRUE(said() == before) << "next to the report of another encode";
  write_file("s.c63.json", deep_json());
  EXPECT_TRUE(said() == before);
}

TEST_F(DecodeProgram, StreamsAreKnownByWhatTheyHold) {
  const std::string bytes = read_file(stream_);
  const std::string unnamed = write_file("video", bytes);
  const std::string raw = write_file("raw_48x32.yuv", pictures_);
  EXPECT_EQ(run({kCmp, "--quiet", "--bitexact", raw, unnamed}).exit_code, 0);
  EXPECT_EQ(run({kCmp, "--quiet", "--bitexact", raw, "-"}, std::string_view(bytes)).exit_code, 0);
  for (const std::string& input : {unnamed, std::string("-")}) {
    const std::string_view piped = input == "-" ? std::string_view(bytes) : std::string_view();
    ASSERT_EQ(run({kEnc, "--quiet", "--backend", "cpu", "-o", path("again.c63"), input}, piped).exit_code, 0);
    ASSERT_EQ(run({kEnc, "--quiet", "--backend", "cpu", "-o", path("expected.c63"), raw}).exit_code, 0);
    EXPECT_EQ(read_file(path("again.c63")), read_file(path("expected.c63")));
    std::vector<std::string> histogram = {kFilter, "histogram", "--backend", "cpu", input};
    if (input == "-") histogram.emplace_back("--video");  // any other input from a pipe is a signal
    EXPECT_EQ(run(histogram, piped).out, run({kFilter, "histogram", "--backend", "cpu", raw}).out);
  }
  EXPECT_EQ(run({kMv, "--quiet", unnamed, "--source", unnamed, "-o", path("a.csv")}).exit_code, 0);
  expect_one_line(run({kEnc, "--quiet", "-w", "32", "-h", "32", "-o", path("o.c63"), unnamed}), 2, "c63enc", "C63-SIZE-MISMATCH");

  // A Y4M file with the name of a stream is still read as Y4M. The name matters only if the content is not a known
  // video.
  ASSERT_EQ(run({kDec, "--quiet", "--output-format", "y4m", stream_, path("y4m.yuv")}).exit_code, 0);
  const std::string misnamed = write_file("y4m.c63", read_file(path("y4m.yuv")));
  EXPECT_EQ(run({kCmp, "--quiet", "--bitexact", raw, misnamed}).exit_code, 0);
  expect_one_line(run({kCmp, "--quiet", raw, write_file("damaged.c63", "FF" + bytes)}), 4, "c63cmp", "C63-NO-FRAME");
}

}  // namespace
}  // namespace c63::test
