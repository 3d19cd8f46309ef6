#include <sys/stat.h>

#include <array>

#include "tools_test_support.h"

// Tests that data never change, whatever standard input, output and error are. Also tests outputs with unusual names.

namespace c63::test {
namespace {

class StandardStreams : public ToolsTest {
 protected:
  void SetUp() override {
    video_ = generate({'A', 0, 64, 48, 8});
    input_ = write_file("in.yuv", video_);
    stream_ = run(encoder("-", input_)).out;
    ASSERT_GT(stream_.size(), 8192U);  // more than the small pipe holds
  }

  [[nodiscard]] static std::vector<std::string> encoder(const std::string& output, const std::string& input) {
    return {kEnc, "-q", "50", "-w", "64", "-h", "48", "--backend", "cpu", "-o", output, input};
  }
  [[nodiscard]] ProcessResult shell(const std::string& script) const {
    return run({"/bin/bash", "-c", "cd '" + folder_.string() + "'; enc() { '" + kEnc +
                                       "' --quiet -q 50 -w 64 -h 48 --backend cpu \"$@\"; }; " + script});
  }

  std::string video_;
  std::string input_;
  std::string stream_;
};

TEST_F(StandardStreams, NeverChangeTheData) {
  constexpr std::array kOutputs = {Stream::closed, Stream::null,         Stream::full,
                                   Stream::pipe,   Stream::non_blocking, Stream::terminal};
  constexpr std::array kInputs = {Stream::closed, Stream::null, Stream::terminal};
  constexpr std::array kErrors = {Stream::closed, Stream::full, Stream::pipe, Stream::terminal};
  // Tests a part of all combinations. Any two streams occur in all pairs of their kinds. All three streams closed
  // occurs, too.
  for (std::size_t o = 0; o < kOutputs.size(); ++o) {
    for (std::size_t e = 0; e < kErrors.size(); ++e) {
      const Stream in = kInputs[(2 * (o + e)) % 3];
      const Stream out = kOutputs[o];
      const Stream err = kErrors[e];
      SCOPED_TRACE("in " + name(in) + ", out " + name(out) + ", err " + name(err));
      const ProcessResult to_file = expect_success(run(encoder(path("out.c63"), input_), {}, {in, out, err}));
      EXPECT_TRUE(read_file(path("out.c63")) == stream_);
      EXPECT_EQ(to_file.out, "");
      std::filesystem::remove(path("out.c63"));

      const ProcessResult to_stdout = run(encoder("-", input_), {}, {in, out, err});
      const bool refused = out == Stream::closed || out == Stream::full;
      EXPECT_EQ(to_stdout.exit_code, out == Stream::terminal ? 2 : refused ? 6 : 0) << to_stdout.err;
      const bool seen = out == Stream::pipe || out == Stream::non_blocking;
      EXPECT_TRUE(to_stdout.out == (seen ? stream_ : ""));
      EXPECT_EQ(files_in_folder(), 1);
    }
  }
  EXPECT_TRUE(read_file(input_) == video_);
}

TEST_F(StandardStreams, InputComesFromAnyOfThem) {
  for (const Stream in : {Stream::pipe, Stream::non_blocking}) {
    for (const Stream err : {Stream::closed, Stream::pipe}) {
      SCOPED_TRACE("in " + name(in) + ", err " + name(err));
      const ProcessResult result = expect_success(run(encoder("-", "-"), video_, {in, Stream::non_blocking, err}));
      EXPECT_TRUE(result.out == stream_);
    }
  }
  const ProcessResult closed = run(encoder(path("o.c63"), "-"), {}, {Stream::closed});
  EXPECT_EQ(closed.exit_code, 4) << closed.err;
  EXPECT_NE(closed.err.find("C63-INPUT-OPEN"), std::string::npos) << closed.err;
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(StandardStreams, OtherProgramsToo) {
  const std::string stream = write_file("s.c63", stream_);
  const std::string decoded = run({kDec, "--quiet", stream, "-"}).out;
  const std::string made = run({kGen, "--quiet", "-w", "64", "-h", "48", "-f", "8", "-o", "-"}).out;
  ASSERT_EQ(decoded.size(), video_.size());
  for (const Stream out : {Stream::closed, Stream::full, Stream::non_blocking, Stream::terminal}) {
    for (const Stream err : {Stream::closed, Stream::full, Stream::pipe}) {
      SCOPED_TRACE("out " + name(out) + ", err " + name(err));
      const bool seen = out == Stream::non_blocking;
      const int unseen = out == Stream::terminal ? 2 : 6;  // no bytes go to a terminal
      const ProcessResult dec = run({kDec, stream, "-"}, {}, {Stream::closed, out, err});
      EXPECT_EQ(dec.exit_code, seen ? 0 : unseen) << dec.err;
      EXPECT_TRUE(dec.out == (seen ? decoded : ""));
      const ProcessResult gen = run({kGen, "-w", "64", "-h", "48", "-f", "8", "-o", "-"}, {}, {Stream::closed, out, err});
      EXPECT_EQ(gen.exit_code, seen ? 0 : unseen) << gen.err;
      EXPECT_TRUE(gen.out == (seen ? made : ""));
      const ProcessResult help = run({kEnc, "--help"}, {}, {Stream::closed, out, err});
      EXPECT_EQ(help.exit_code, seen || out == Stream::terminal ? 0 : 6) << help.err;
    }
  }
}

TEST_F(StandardStreams, NamedOpenFilesAreWrittenAtTheirPosition) {
  EXPECT_EQ(shell("printf before > a; enc -o /dev/stdout in.yuv >> a").exit_code, 0);
  EXPECT_TRUE(read_file(path("a")) == "before" + stream_);
  EXPECT_EQ(shell("printf before > b; enc -o /dev/fd/7 in.yuv 7>> b").exit_code, 0);
  EXPECT_TRUE(read_file(path("b")) == "before" + stream_);
  EXPECT_EQ(shell("enc -o >(cat > c) in.yuv; wait $!; sleep 0.1").exit_code, 0);
  EXPECT_TRUE(read_file(path("c")) == stream_);
  EXPECT_EQ(shell("enc -o /proc/self/fd/1 in.yuv | cat > d").exit_code, 0);
  EXPECT_TRUE(read_file(path("d")) == stream_);
  // An output file that is open, but whose name was removed. The bytes must go to this file, and no new file may
  // appear.
  EXPECT_EQ(shell("exec 7> e 8< e; rm e; enc -o /dev/fd/7 in.yuv && cat <&8 > f").exit_code, 0);
  EXPECT_TRUE(read_file(path("f")) == stream_);
  EXPECT_EQ(files_in_folder(), 6);

  expect_one_line(shell("enc -o /dev/fd/9 in.yuv 9>&-"), 6, "c63enc", "C63-WRITE-OPEN");
  expect_one_line(shell("enc -o /dev/fd/9 in.yuv 9< in.yuv"), 2, "c63enc", "C63-SAME-FILE");
  expect_one_line(shell("enc -o /dev/fd/9 in.yuv 9< a"), 6, "c63enc", "C63-WRITE-OPEN");
  expect_one_line(shell("ln -s x y; ln -s y x; enc -o x in.yuv"), 6, "c63enc", "C63-WRITE-OPEN");
  EXPECT_TRUE(std::filesystem::is_symlink(path("x")));
}

TEST_F(StandardStreams, TwoOutputsIntoOneAreRefused) {
  for (const char* script : {"enc -o - --recon /dev/stdout in.yuv | cat > o", "enc -o - --recon o in.yuv > o",
                             "enc -o - in.yuv > o 2>&1", "enc -o - --log-file /dev/stdout in.yuv | cat"}) {
    SCOPED_TRACE(script);
    const ProcessResult result = shell(std::string("set -o pipefail; ") + script);
    EXPECT_EQ(result.exit_code, 2) << result.err;
  }
  EXPECT_EQ(shell("enc -o /dev/null --recon /dev/null in.yuv > /dev/null 2>&1").exit_code, 0);
}

TEST_F(StandardStreams, AFileAtItsSizeLimitIsAnOutputError) {
  const std::string old = write_file("old.c63", "old");
  expect_one_line(shell("ulimit -f 2; enc -o old.c63 in.yuv"), 6, "c63enc", "C63-WRITE-FAILED");
  EXPECT_EQ(read_file(old), "old");
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(StandardStreams, TheLongestNamesWork) {
  const std::string longest = std::string(120, 'x') + "\xc3\xa4" + std::string(133, 'y');
  ASSERT_EQ(longest.size(), 255U);
  EXPECT_EQ(run(encoder(path(longest), input_)).exit_code, 0);
  EXPECT_TRUE(read_file(path(longest)) == stream_);
  const ProcessResult too_long = run(encoder(path(longest + "z"), input_));
  EXPECT_EQ(too_long.exit_code, 6) << too_long.err;
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(StandardStreams, TooFewDescriptorsAreALimit) {
  const ProcessResult result = shell("ulimit -n 8; enc --recon r --pred p --csv c --stats-yuview y -o o in.yuv");
  expect_one_line(result, 5, "c63enc", "C63-OPEN-FILES");
  EXPECT_EQ(files_in_folder(), 1);
}

}  // namespace
}  // namespace c63::test
