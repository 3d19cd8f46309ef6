#include "compare/ab_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "common/process.h"
#include "common/text.h"
#include "compare/ab_result.h"
#include "files/scratch_folder.h"
#include "support/expect_error.h"

namespace c63::tools {
namespace {

using List = std::vector<std::string>;

TEST(AbPlanTest, SidesAreOptionsOrCommandsWithTheirOwnPoints) {
  const List qps = {"10", "20"};
  const List one = {""};
  struct Side {
    std::string given;
    bool external;
    std::string text;
    List quantizers;
    std::string program = {};
  };
  const std::vector<Side> sides = {
      {"", false, "", qps},
      {"  --backend cpu", false, "--backend cpu", qps},
      {"c63enc --me zero", false, "--me zero", qps},
      {"../old/c63enc --me zero", false, "--me zero", qps, "../old/c63enc"},
      {"-q 30", false, "-q 30", one},
      {"--qp=30 --keyint 5", false, "--qp=30 --keyint 5", one},
      {"--preset good --bitrate 800k", false, "--preset good --bitrate 800k", one},
      {"--target-psnr=38", false, "--target-psnr=38", one},
      {"--quiet", false, "--quiet", qps},
      {"c63enc {in} {out}", true, "c63enc {in} {out}", one},
      {"../old/c63enc -q {qp} {in} {out}", true, "../old/c63enc -q {qp} {in} {out}", qps},
      {"x264 --qp {qp:18, 24,30} -o {out} {in}", true, "x264 --qp {qp} -o {out} {in}", {"18", "24", "30"}},
      {"x264 --crf 20 {in}", true, "x264 --crf 20 {in}", one},
      {"c63enc2 {in}", true, "c63enc2 {in}", one},
  };
  for (const Side& side : sides) {
    const Configuration c = parse_configuration("a", side.given, qps);
    EXPECT_EQ(std::tie(c.external, c.text, c.quantizers, c.program),
              std::tie(side.external, side.text, side.quantizers, side.program))
        << side.given;
  }
  test::expect_error(ErrorKind::usage, "C63-USAGE", [&] { (void)parse_configuration("x", "x264 {qp:1,2", qps); });
  test::expect_error(ErrorKind::usage, "C63-USAGE", [] { (void)split_list("1,,2"); });
}

TEST(AbPlanTest, FillsIn) {
  EXPECT_EQ(fill_in("{a}{b}{a} {c}", '{', '}', {{"a", "{b}"}, {"b", "2"}}), "{b}2{b} {c}");
  EXPECT_EQ(fill_in("nothing", '{', '}', {{"a", "1"}}), "nothing");
}

TEST(AbStatisticsTest, Spread) {
  const std::vector<double> odd = {3, 1, 2};
  EXPECT_DOUBLE_EQ(spread_of(odd).median, 2);
  EXPECT_DOUBLE_EQ(spread_of(odd).relative(), 1);
  const std::vector<double> even = {4, 1, 2, 3};
  EXPECT_DOUBLE_EQ(spread_of(even).median, 2.5);
}

TEST(AbStatisticsTest, RatioAndItsInterval) {
  using Points = std::vector<PairedSpeeds>;
  const Ratio exact = ratio_of_points(Points{{{10, 20, 40}, {20, 40, 80}}});
  EXPECT_NEAR(exact.value, 2, 1e-12);
  EXPECT_NEAR(*exact.low, 2, 1e-12);
  EXPECT_NEAR(*exact.high, 2, 1e-12);
  // The ratios are 1, 2 and 4, their logarithms 0, ln 2 and 2 ln 2. The mean is ln 2, the standard error ln 2 / √3. For
  // three values, Student's t at 97.5 % is 4.30265.
  const Ratio three = ratio_of_points(Points{{{1, 1, 1}, {1, 2, 4}}});
  EXPECT_NEAR(three.value, 2, 1e-12);
  EXPECT_NEAR(std::log(*three.high), std::log(2) * (1 + 4.30265 / std::sqrt(3)), 1e-4);
  EXPECT_NEAR(*three.low * *three.high, 4, 1e-9);
}

TEST(AbStatisticsTest, TwoRoundsHaveNoInterval) {
  EXPECT_FALSE(ratio_of_points(std::vector<PairedSpeeds>{{{1, 1}, {3, 4}}, {{1, 1}, {3, 4}}}).low);
}

TEST(AbStatisticsTest, PointsOfDifferentRatiosWidenNoInterval) {
  // The second side has a quarter of the first side's speed at one point, and half of it at the other. At each point,
  // rounds differ by only 1 %, so the interval must be narrow.
  const Ratio ratio = ratio_of_points(
      std::vector<PairedSpeeds>{{{100, 100, 100}, {25, 25.25, 24.75}}, {{50, 50, 50}, {25, 24.75, 25.25}}});
  EXPECT_NEAR(ratio.value, std::sqrt(0.125), 1e-3);
  EXPECT_GT(*ratio.low, 0.34);
  EXPECT_LT(*ratio.high, 0.37);
}

TEST(ProcessTest, RunsAndMeasures) {
  const ScratchFolder folder("", "c63cmp");
  const ProcessResult good = run_process("cat > " + shell_quoted(folder.file("it's")), "/etc/hostname", "", folder.path());
  EXPECT_EQ(good.exit_code, 0) << good.error_output;
  EXPECT_GT(good.wall_s, 0);
  const ProcessResult bad = run_process("echo trouble >&2; exit 7", "", "", folder.path());
  EXPECT_EQ(bad.exit_code, 7);
  EXPECT_EQ(bad.error_output, "trouble\n");
  EXPECT_EQ(run_process("kill -9 $$", "", "", folder.path()).exit_code, 137);
  EXPECT_EQ(run_process("test $(ulimit -n) = 17", "", "", folder.path(), {}, {.files = 17}).exit_code, 0);
}

TEST(AbPlanTest, OnlyKnownEncodersAreAskedForTheirVersion) {
  EXPECT_EQ(version_question("x264 --preset ultrafast -o {out} {in}"), "x264 --version");
  EXPECT_EQ(version_question("/opt/bin/ffmpeg -i {in}"), "/opt/bin/ffmpeg -version");
  EXPECT_EQ(version_question("./my_script {in}"), "");
  EXPECT_EQ(version_question("x264;reboot"), "");
  EXPECT_EQ(version_question("$(x)/x264 {in}"), "");
  EXPECT_EQ(version_question(""), "");
}

}  // namespace
}  // namespace c63::tools
