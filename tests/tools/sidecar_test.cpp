// A stream contains no frame rate. Every program that reads one must take the rate from the file next to it, the
// sidecar (.json).

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools_test_support.h"

namespace c63::test {
namespace {

class Sidecar : public ToolsTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({kGen, "--quiet", "-w", "32", "-h", "32", "-f", "6", "--fps", "30000/1001", "-o", path("in.y4m")})
                  .exit_code,
              0);
    stream_ = path("s.c63");
    ASSERT_EQ(run({kEnc, "--quiet", "--backend", "cpu", "--sidecar", path("in.y4m"), stream_}).exit_code, 0);
  }

  /// Returns the frame rate in the first line of a Y4M file, such as "F25:1".
  static std::string rate_of(const std::string& y4m) {
    const std::string line = y4m.substr(0, y4m.find('\n'));
    const std::size_t at = line.find(" F");
    return at == std::string::npos ? line : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
  }
  [[nodiscard]] ProcessResult decode() const { return run({kDec, stream_, path("o.y4m")}); }

  std::string stream_;
};

TEST_F(Sidecar, GivesTheRateToEveryProgram) {
  const auto json = nlohmann::json::parse(read_file(path("s.c63.json")));
  EXPECT_EQ(json["input"]["rate_numerator"], 30000);
  EXPECT_EQ(json["result"]["bytes"], std::filesystem::file_size(stream_));

  const ProcessResult decoded = decode();
  EXPECT_EQ(rate_of(read_file(path("o.y4m"))), "F30000:1001");
  EXPECT_NE(decoded.err.find("s.c63.json"), std::string::npos) << decoded.err;
  EXPECT_EQ(rate_of(run({kPred, "--quiet", "--output-format", "y4m", stream_, "-"}).out), "F30000:1001");
  ASSERT_EQ(
      run({kFilter, "convolve", "--quiet", "--backend", "cpu", "--kernel", "mean:3", stream_, path("f.y4m")}).exit_code,
      0);
  EXPECT_EQ(rate_of(read_file(path("f.y4m"))), "F30000:1001");
  ASSERT_EQ(run({kEnc, "--quiet", "--backend", "cpu", "--json", path("e.json"), stream_, path("e.c63")}).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("e.json")))["input"]["rate_denominator"], 1001);
  ASSERT_EQ(run({kDec, "--quiet", "--index", path("i.json"), stream_}).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("i.json")))["rate_numerator"], 30000);
  EXPECT_NE(run({kMv, "--quiet", "--format", "yuview", stream_}).out.find(";32;32;29.97;"), std::string::npos);
  EXPECT_NE(run({kInfo, stream_}).out.find("29.97 frames/s"), std::string::npos);
  // The option --fps replaces the rate of the sidecar.
  ASSERT_EQ(run({kDec, "--quiet", "--fps", "50", stream_, path("o.y4m")}).exit_code, 0);
  EXPECT_EQ(rate_of(read_file(path("o.y4m"))), "F50:1");
}

TEST_F(Sidecar, WithoutOneTheRateIsSaidToBeAGuess) {
  std::filesystem::remove(path("s.c63.json"));
  const ProcessResult decoded = decode();
  EXPECT_EQ(decoded.exit_code, 0);
  EXPECT_NE(decoded.err.find("no frame rate"), std::string::npos) << decoded.err;
  EXPECT_NE(decoded.err.find("--fps"), std::string::npos) << decoded.err;
  EXPECT_EQ(rate_of(read_file(path("o.y4m"))), "F25:1");
  // Raw video cannot store a frame rate, so c63dec needs none and must not report that it is missing.
  EXPECT_EQ(run({kDec, stream_, path("o.yuv")}).err.find("rate"), std::string::npos);
  ASSERT_EQ(run({kDec, "--quiet", "--index", path("i.json"), stream_}).exit_code, 0);
  EXPECT_TRUE(nlohmann::json::parse(read_file(path("i.json")))["rate_numerator"].is_null());
}

TEST_F(Sidecar, OfAnotherStreamOrDamagedIsNotUsed) {
  const std::string whole = read_file(path("s.c63.json"));
  auto other = nlohmann::json::parse(whole);
  other["result"]["bytes"] = 1;
  auto no_rate = nlohmann::json::parse(whole);
  no_rate["input"]["rate_denominator"] = 0;
  for (const std::string& text :
       {other.dump(), no_rate.dump(), std::string("[]"), std::string("{"), std::string(), whole.substr(0, 99)}) {
    write_file("s.c63.json", text);
    const ProcessResult decoded = decode();
    EXPECT_EQ(decoded.exit_code, 0) << text;
    EXPECT_NE(decoded.err.find("s.c63.json"), std::string::npos) << decoded.err;
    EXPECT_EQ(rate_of(read_file(path("o.y4m"))), "F25:1");
  }
}

TEST_F(Sidecar, NeedsAFileToLieBeside) {
  expect_one_line(run({kEnc, "--quiet", "--sidecar", path("in.y4m"), "-o", "/dev/null"}), 2, "c63enc", "C63-USAGE");
  expect_one_line(run({kEnc, "--quiet", "--sidecar", "--csv", path("t.c63.json"), path("in.y4m"), path("t.c63")}), 2,
                  "c63enc", "C63-SAME-FILE");
}

}  // namespace
}  // namespace c63::test
