#include <fcntl.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <thread>

#include "tools_test_support.h"

// Tests which files c63mv writes, and that it ends at a stop while one of its inputs is a pipe that gives nothing.

namespace c63::test {
namespace {

using MotionFiles = ToolsTest;

TEST_F(MotionFiles, EndsAtAStopWhileAPipeWaits) {
  const std::string video = generate({'B', 0, 32, 32, 4});
  const std::string stream = write_file("in.c63", run({kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", "-"}, video).out);
  for (const std::string name : {"pipe_32x32.yuv", "pipe.csv", "pipe.c63"}) {
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    // With a writer that writes nothing, and then without one: opening the pipe waits, too.
    for (const bool has_writer : {true, false}) {
      SCOPED_TRACE(name);
      const int writer = has_writer ? ::open(path(name).c_str(), O_RDWR | O_CLOEXEC) : -1;
      std::vector<std::string> command = {kMv, stream};
      if (name == "pipe_32x32.yuv") command.insert(command.end(), {"--source", path(name)});
      if (name == "pipe.csv") command.insert(command.end(), {"--truth", path(name)});
      if (name == "pipe.c63") command.insert(command.end(), {"--beside", path(name), "--format", "html", "-o", path("out.html")});
      Process process(command);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      EXPECT_TRUE(process.running());
      process.kill(SIGTERM);
      EXPECT_EQ(process.wait().exit_code, 128 + SIGTERM);
      if (writer >= 0) ::close(writer);
    }
  }
}

TEST_F(MotionFiles, NumberedNamesReplaceNeitherTheInputNorWithNAnything) {
  const std::string video = generate({'B', 0, 32, 32, 4});
  const std::string film = write_file("f2.flo", video);
  const std::vector<std::string> search = {kMv, "--quiet", "--input-res", "32x32", "--backend", "cpu"};
  const ProcessResult same = run(joined(search, {film, "-o", path("f%d.flo")}));
  EXPECT_NE(same.exit_code, 0);
  EXPECT_NE(same.err.find("[C63-SAME-FILE]"), std::string::npos) << same.err;
  EXPECT_EQ(read_file(film), video);
  write_file("g1.flo", "older");
  const ProcessResult kept = run(joined(search, {film, "-n", "-o", path("g%d.flo")}));
  EXPECT_NE(kept.err.find("[C63-OUTPUT-EXISTS]"), std::string::npos) << kept.err;
  EXPECT_EQ(read_file(path("g1.flo")), "older");
  EXPECT_EQ(run(joined(search, {film, "-o", path("100%%_%02d.flo")})).exit_code, 0);
  EXPECT_TRUE(read_file(path("100%_01.flo")).starts_with("PIEH"));
}

TEST_F(MotionFiles, TruthIsThatOfEachBlockAndMayBeginWithAMarkOfByteOrder) {
  ASSERT_EQ(run({kGen, "--quiet", "--pattern", "pan", "-w", "128", "-h", "96", "-f", "3", "--truth", path("t.csv"), "-o", path("v.y4m")}).exit_code, 0);
  const std::vector<std::string> search = {kMv, "--quiet", "--backend", "cpu", path("v.y4m"), "--format", "json", "--truth"};
  const ProcessResult plain = expect_success(run(joined(search, {path("t.csv")})));
  EXPECT_EQ(nlohmann::json::parse(plain.out)["summary"]["endpoint_error"]["mean_samples"], 0);
  EXPECT_EQ(run(joined(search, {write_file("bom.csv", "\xEF\xBB\xBF" + read_file(path("t.csv")))})).out, plain.out);
}

TEST_F(MotionFiles, AnEmptyTmpdirMeansTmp) {
  const std::string film = write_file("in.yuv", generate({'B', 0, 32, 32, 4}));
  expect_success(run({"/usr/bin/env", "TMPDIR=", kMv, "--quiet", "--input-res", "32x32", "--backend", "cpu", film,
                      "--format", "npz", "-o", "-"}));
}

TEST_F(MotionFiles, TrueMotionOfAnotherLengthIsRefused) {
  const auto make = [&](const std::string& frames) {
    ASSERT_EQ(run({kGen, "--quiet", "-w", "64", "-h", "64", "-f", frames, "--truth", path(frames + ".csv"), path("g_64x64.yuv")}).exit_code, 0);
  };
  for (const char* frames : {"3", "6", "5"}) make(frames);
  ASSERT_EQ(run({kEnc, "--quiet", path("g_64x64.yuv"), path("s.c63")}).exit_code, 0);
  EXPECT_EQ(run({kMv, path("s.c63"), "--truth", path("5.csv")}).exit_code, 0);
  EXPECT_EQ(run({kMv, path("s.c63"), "-f", "3", "--truth", path("5.csv")}).exit_code, 0);
  for (const char* frames : {"3", "6"}) {
    const ProcessResult result = run({kMv, path("s.c63"), "--truth", path(frames + std::string(".csv")), "-o", path("o.csv")});
    expect_one_line(result, 4, "c63mv", "C63-TRUTH");
    EXPECT_FALSE(std::filesystem::exists(path("o.csv")));
  }
}

}  // namespace
}  // namespace c63::test
