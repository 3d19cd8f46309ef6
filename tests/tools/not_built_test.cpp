#include "common/errors.h"

#include <CLI/App.hpp>

#include "common/command_line.h"
#include "support/expect_error.h"
#include "tools_test_support.h"

// Tests options and subcommands of parts that were not built, such as FFmpeg or CUDA. The error must name the part.

namespace c63::test {
namespace {

TEST(NotBuilt, ASubcommandTakesWhateverFollowsIt) {
  const tools::Subcommand me = tools::subcommand_without_cuda("me");
  CLI::App app;
  CLI::App* added = app.add_subcommand(me.name, me.description);
  added->fallthrough();
  me.add_options(*added);
  std::vector<std::string> words = {"more", "3", "--frames", "--quiet", "me"};  // CLI11 parses from the end
  ASSERT_NO_THROW(app.parse(words));
  EXPECT_TRUE(app.got_subcommand("me"));
  tools::Session session;
  expect_error(ErrorKind::device, "C63-NO-CUDA", [&] { static_cast<void>(me.run(session)); });
}

class NotBuiltTest : public ToolsTest {};

TEST_F(NotBuiltTest, ProgramsWithoutCudaSaySo) {
  if (run({kEnc, "--version"}).out.find("CUDA not built in") == std::string::npos) GTEST_SKIP() << "this c63 has CUDA";
  const std::string video = write_file("v_32x32.yuv", generate({'B', 0, 32, 32, 3}));
  const auto expect = [](const std::string& program, std::vector<std::string> command, const std::string& id) {
    command.emplace_back("--quiet");
    expect_one_line(run(command), 8, program, id);
  };
  expect("c63enc", {kEnc, video, path("o.c63"), "--me-kernel", "textbook"}, "C63-NO-CUDA");
  expect("c63enc", {kEnc, video, path("o.c63"), "--backend", "cuda"}, "C63-NO-GPU");
  expect("c63enc", {kEnc, video, path("o.c63"), "--device", "0"}, "C63-NO-GPU");
  ASSERT_EQ(run({kEnc, "--quiet", video, path("s.c63")}).exit_code, 0);
  expect("c63dec", {kDec, path("s.c63"), path("o.yuv"), "--backend", "cuda"}, "C63-NO-GPU");
  expect("c63filter", {kFilter, "histogram", "--backend", "cuda", video}, "C63-CUDA-NO-CODE");
}

}  // namespace
}  // namespace c63::test
