// Kills a program in each of its writes, syncs, closes and renames. An older output must stay whole. The new,
// unfinished file next to it must decode up to its last whole frame.

#include <csignal>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "tools_test_support.h"

namespace c63::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOlder = "an older output";
constexpr std::size_t kFrame = 32 * 32 * 3 / 2;

class Killed : public ToolsTest {
 protected:
  void SetUp() override {
    input_ = write_file("in.yuv", generate({'B', 0, 32, 32, 6}));
    stream_ = run({kEnc, "--quiet", "-w", "32", "-h", "32", "--keyint", "3", "-o", "-", input_}).out;
    write_file("in.c63", stream_);
    Decoder().decode(std::span{reinterpret_cast<const std::uint8_t*>(stream_.data()), stream_.size()}, [&](DecodedFrame&& frame) {
      ends_.push_back(frame.offset + frame.coded_bytes);
      decoded_.append(frame.picture.begin(), frame.picture.end());
    });
    ASSERT_EQ(ends_.size(), 6U);
  }

  [[nodiscard]] static std::vector<std::string> with_fault(const std::string& fault, const std::vector<std::string>& command) {
    std::vector<std::string> all = {"/usr/bin/env", "LD_PRELOAD=" C63_FAULT_SHIM, "C63_FAULT=" + fault};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }

  /// Returns how often the command makes this call in a run without a failure.
  [[nodiscard]] long calls(const std::string& call, const std::vector<std::string>& command) const {
    std::vector<std::string> counted = with_fault(call, command);
    counted.insert(counted.begin() + 1, "C63_FAULT_COUNT=" + path("count"));
    EXPECT_EQ(run(counted).exit_code, 0);
    const long count = std::stol(read_file(path("count")));
    fs::remove(path("count"));
    return count;
  }

  /// Returns the path of the unfinished file (*.part-*) next to the output, or an empty path if there is none.
  [[nodiscard]] std::string part() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename().string().find(".part-") != std::string::npos) return entry.path().string();
    }
    return {};
  }

  /// Expects that `file` is the beginning of the stream, and that decoding it gives all frames that are whole in it.
  void expect_whole_frames(const std::string& file) const {
    const std::string bytes = read_file(file);
    ASSERT_TRUE(std::string_view(stream_).starts_with(bytes));
    const auto whole = static_cast<std::size_t>(std::ranges::count_if(ends_, [&](std::size_t end) { return end <= bytes.size(); }));
    const ProcessResult result = run({kDec, "--quiet", file, "-"});
    EXPECT_EQ(result.exit_code, whole > 0 && ends_[whole - 1] == bytes.size() ? 0 : 4) << result.err;
    EXPECT_EQ(result.out, decoded_.substr(0, whole * kFrame));
  }

  std::string input_, stream_, decoded_;
  std::vector<std::size_t> ends_;  ///< ends of the frames in stream_
};

TEST_F(Killed, AnEncodeLeavesTheOlderFileAndWholeFramesNextToIt) {
  const std::vector<std::string> command = {kEnc, "--quiet", "-w", "32", "-h", "32", "--keyint", "3", "--sync",
                                            "-o", path("out.c63"), input_};
  int parts = 0;
  for (const std::string call : {"write", "fsync", "close", "rename"}) {
    const long count = calls(call, command);
    EXPECT_GT(count, 0) << call;
    for (long number = 1; number <= count; ++number) {
      SCOPED_TRACE(call + " " + std::to_string(number));
      write_file("out.c63", kOlder);
      const ProcessResult result = run(with_fault(call + ":" + std::to_string(number) + "!", command));
      EXPECT_EQ(result.signal, SIGKILL);
      const std::string there = read_file(path("out.c63"));
      EXPECT_TRUE(there == kOlder || there == stream_);
      const std::string beside = part();
      if (beside.empty()) continue;
      ++parts;
      expect_whole_frames(beside);
      fs::remove(beside);
    }
  }
  EXPECT_GE(parts, 6);
}

TEST_F(Killed, AnEncodeToStandardOutputLeavesWholeFramesThere) {
  const std::vector<std::string> command = {kEnc, "--quiet", "-w", "32", "-h", "32", "--keyint", "3", "-o", "-", input_};
  const long count = calls("write", command);
  EXPECT_GE(count, 6);
  for (long number = 1; number <= count; ++number) {
    SCOPED_TRACE(number);
    Process process(with_fault("write:" + std::to_string(number) + "!", command), {.out_file = write_file("out.c63", "")});
    EXPECT_EQ(process.wait().signal, SIGKILL);
    expect_whole_frames(path("out.c63"));
  }
}

TEST_F(Killed, ADecodeLeavesTheOlderFileAndABeginningNextToIt) {
  const std::vector<std::string> command = {kDec, "--quiet", path("in.c63"), path("out.yuv")};
  const long count = calls("write", command);
  EXPECT_GE(count, 6);
  for (long number = 1; number <= count; ++number) {
    SCOPED_TRACE(number);
    write_file("out.yuv", kOlder);
    EXPECT_EQ(run(with_fault("write:" + std::to_string(number) + "!", command)).signal, SIGKILL);
    EXPECT_EQ(read_file(path("out.yuv")), kOlder);
    const std::string beside = part();
    ASSERT_FALSE(beside.empty());
    EXPECT_TRUE(decoded_.starts_with(read_file(beside)));
    fs::remove(beside);
  }
}

}  // namespace
}  // namespace c63::test
