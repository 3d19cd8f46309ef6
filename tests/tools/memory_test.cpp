#include <map>

#include "tools_test_support.h"

// Tests --max-memory. A program may take the memory that it needs for a tiny input, plus 1.2 times the limit.

namespace c63::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class MaxMemory : public ToolsTest {
 protected:
  void SetUp() override {
#if defined(C63_SANITIZED)
    GTEST_SKIP() << "a sanitizer takes its own memory";
#endif
  }

  [[nodiscard]] std::string video(int width, int height, int frames) const {
    const std::string name = path("v" + std::to_string(frames) + "_" + std::to_string(width) + "x" + std::to_string(height) + ".yuv");
    const std::vector<std::string> size = {"-w", std::to_string(width), "-h", std::to_string(height)};
    EXPECT_EQ(run({kGen, "--quiet", "-w", size[1], "-h", size[3], "-f", std::to_string(frames), "-o", name}).exit_code, 0);
    return name;
  }

  /// Runs a command twice: with a small input, which gives the base, and with a large one. "{}" in the command stands
  /// for the input. Expects that the second run takes at most the base plus 1.2 times `limit`.
  static void expect_kept(std::vector<std::string> command, const std::string& small, const std::string& large,
                          std::uint64_t limit) {
    const auto peak_for = [&](const std::string& input, bool may_refuse) {
      std::vector<std::string> arguments = command;
      for (std::string& argument : arguments) {
        if (argument == "{}") argument = input;
      }
      arguments.insert(arguments.end(), {"--quiet", "--max-memory", std::to_string(limit)});
      const ProcessResult result = run(arguments);
      const bool refused = result.exit_code == 5 && result.err.find("C63-MAX-MEMORY") != std::string::npos;
      EXPECT_TRUE(result.exit_code == 0 || (may_refuse && refused)) << result.err;
      return result.peak_bytes;
    };
    std::string text;
    for (const std::string& argument : command) text += argument + " ";
    SCOPED_TRACE(text);
    // With a tiny input, the memory does not depend on the limit. So it is measured once for each command and then
    // kept.
    static std::map<std::string, std::uint64_t> bases;
    const auto [known, is_new] = bases.try_emplace(text + small);
    if (is_new) known->second = peak_for(small, false);
    const std::uint64_t base = known->second;
    const std::uint64_t peak = peak_for(large, true);
    EXPECT_LE(peak, base + limit * 12 / 10) << "base " << base / kMiB << " MiB, peak " << peak / kMiB << " MiB, limit "
                                            << limit / kMiB << " MiB";
    RecordProperty(text, std::to_string(base / kMiB) + " + " + std::to_string((peak - base) / kMiB) + " MiB of " +
                             std::to_string(limit / kMiB));
  }
};

TEST_F(MaxMemory, OfEncodesWithPrefilters) {
  const std::string small = video(32, 32, 4);
  const std::string large = video(1280, 720, 40);
  for (const char* prefilter : {"mean:5", "gauss:2", "temporal:2", "temporal:16", "temporal:64"}) {
    for (const std::uint64_t limit : {60 * kMiB, 200 * kMiB}) {
      expect_kept({kEnc, "--backend", "cpu", "--me", "zero", "--keyint", "5", "--prefilter", prefilter, "-o", "/dev/null", "{}"},
                  small, large, limit);
    }
  }
}

TEST_F(MaxMemory, OfPresets) {
  const std::string small = video(32, 32, 3);
  const std::string large = video(640, 360, 6);
  for (const char* preset : {"fast", "good", "best"}) {
    expect_kept({kEnc, "--backend", "cpu", "--preset", preset, "--keyint", "3", "{}", "-o", path("o.c63")}, small, large, 24 * kMiB);
  }
}

TEST_F(MaxMemory, OfSignals) {
  std::string numbers;
  for (int i = 0; i < 1500000; ++i) numbers += std::to_string((i * 37) % 101) + "\n";
  const std::string small = write_file("small.txt", numbers.substr(0, 100));
  const std::string large = write_file("large.txt", numbers);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"mean", "{}", path("out.npy")}, {"scan", "{}", path("out.txt")}, {"reduce", "{}"}, {"histogram", "{}"}}) {
    for (const std::uint64_t limit : {10 * kMiB, 30 * kMiB, 100 * kMiB}) {
      for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--compare"}, {"--format", "u8"}}) {
        if (limit == 30 * kMiB && !more.empty()) continue;
        std::vector<std::string> arguments = {kFilter};
        arguments.insert(arguments.end(), command.begin(), command.end());
        arguments.insert(arguments.end(), {"--backend", "cpu"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_kept(arguments, small, large, limit);
      }
    }
  }
}

TEST_F(MaxMemory, OfFilteredVideo) {
  const std::string small = video(32, 32, 12);
  const std::string large = video(1280, 720, 12);
  for (const std::uint64_t limit : {10 * kMiB, 40 * kMiB}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"convolve", "--kernel", "gauss:2", "{}", path("o.yuv")},
          {"histogram", "{}"},
          {"reduce", "{}"},
          {"shift", "{}"},
          {"whiten", "--memory", "4", "{}", path("o.yuv")},
          {"whiten", "--memory", "8", "--reject", "3", "--method", "correlation", "{}", path("o.yuv")}}) {
      std::vector<std::string> arguments = {kFilter};
      arguments.insert(arguments.end(), command.begin(), command.end());
      arguments.insert(arguments.end(), {"--backend", "cpu"});
      expect_kept(arguments, small, large, limit);
    }
  }
}

TEST_F(MaxMemory, OfOtherPrograms) {
  const std::string small = video(32, 32, 4);
  const std::string large = video(1280, 720, 24);
  const auto encoded = [&](const std::string& input) {
    EXPECT_EQ(run({kEnc, "--quiet", "--backend", "cpu", "--me", "zero", "--keyint", "4", "-o", input + ".c63", input}).exit_code, 0);
    return input + ".c63";
  };
  const std::string small_stream = encoded(small);
  const std::string large_stream = encoded(large);
  for (const std::uint64_t limit : {60 * kMiB, 200 * kMiB}) {
    expect_kept({kDec, "{}", "/dev/null"}, small_stream, large_stream, limit);
    expect_kept({kPred, "{}", "/dev/null"}, small_stream, large_stream, limit);
    expect_kept({kMv, "{}", "-o", path("mv.csv")}, small_stream, large_stream, limit);
    expect_kept({kMv, "{}", "-o", path("mv.json")}, small_stream, large_stream, limit);
    expect_kept({kMv, "{}", "-o", path("mv.html")}, small_stream, large_stream, limit);
    expect_kept({kCmp, "{}", "{}"}, small_stream, large_stream, limit);
    expect_kept({kCmp, "{}", "{}", "--heatmap", path("h.ppm")}, small, large, limit);
  }
  EXPECT_LE(run({kGen, "-w", "1280", "-h", "720", "-f", "60", "-o", "/dev/null", "--max-memory", "20MiB"}).peak_bytes,
            run({kGen, "-w", "32", "-h", "32", "-f", "1", "-o", "/dev/null"}).peak_bytes + 24 * kMiB);
}

}  // namespace
}  // namespace c63::test
