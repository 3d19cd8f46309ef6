#include "compare/ab_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/process.h"
#include "common/text.h"
#include "compare/ab_result.h"
#include "files/scratch_folder.h"
#include "support/expect_error.h"

namespace c63::tools {
namespace {

using List = std::vector<std::string>;

TEST(AbPlanTest, OptionsAndCommandsAreToldApart) {
  const List qps = {"10", "20"};
  EXPECT_FALSE(parse_configuration("a", "", qps).external);
  EXPECT_FALSE(parse_configuration("a", "  --backend cpu", qps).external);
  const Configuration named = parse_configuration("a", "c63enc --me zero", qps);
  EXPECT_FALSE(named.external);
  EXPECT_EQ(named.text, "--me zero");
  EXPECT_EQ(named.quantizers, qps);
  const Configuration other = parse_configuration("a", "../old/c63enc --me zero", qps);
  EXPECT_FALSE(other.external);
  EXPECT_EQ(other.program, "../old/c63enc");
  EXPECT_EQ(other.text, "--me zero");
  EXPECT_TRUE(parse_configuration("a", "c63enc {in} {out}", qps).external);
  EXPECT_TRUE(parse_configuration("a", "../old/c63enc -q {qp} {in} {out}", qps).external);
  EXPECT_TRUE(parse_configuration("a", "x264 -q {qp} {in} -o {out}", qps).external);
  EXPECT_TRUE(parse_configuration("a", "c63enc2 {in}", qps).external);
}

TEST(AbPlanTest, ASideMayHaveItsOwnPoints) {
  const List qps = {"10", "20"};
  EXPECT_EQ(parse_configuration("a", "-q 30", qps).quantizers, List{""});
  EXPECT_EQ(parse_configuration("a", "--qp=30 --keyint 5", qps).quantizers, List{""});
  EXPECT_EQ(parse_configuration("a", "--preset good --bitrate 800k", qps).quantizers, List{""});
  EXPECT_EQ(parse_configuration("a", "--target-psnr=38", qps).quantizers, List{""});
  EXPECT_EQ(parse_configuration("a", "--quiet", qps).quantizers, qps);
  const Configuration own = parse_configuration("x", "x264 --qp {qp:18, 24,30} -o {out} {in}", qps);
  EXPECT_EQ(own.quantizers, (List{"18", "24", "30"}));
  EXPECT_EQ(own.text, "x264 --qp {qp} -o {out} {in}");
  EXPECT_EQ(parse_configuration("x", "x264 --crf 20 {in}", qps).quantizers, List{""});
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
  EXPECT_FALSE(ratio_of_points(std::vector<PairedSpeeds>{{{1}, {3}}}).low);
  EXPECT_FALSE(ratio_of_points(std::vector<PairedSpeeds>{{{1, 1}, {3, 4}}, {{1, 1}, {3, 4}}}).low);
}

TEST(AbStatisticsTest, PointsOfDifferentRatiosWidenNoInterval) {
  // At the first point, the second side has a quarter of the first side's speed. At the other point it has half. But at
  // each point, rounds differ by only 1 %, so the interval must be narrow.
  const std::vector<PairedSpeeds> points = {{{100, 100, 100}, {25, 25.25, 24.75}}, {{50, 50, 50}, {25, 24.75, 25.25}}};
  const Ratio ratio = ratio_of_points(points);
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
