#include "compare/ab_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/fill_in.h"
#include "compare/ab_statistics.h"
#include "compare/process.h"
#include "io/scratch_folder.h"
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
  const std::vector<double> anchor = {10, 20, 40};
  const std::vector<double> twice = {20, 40, 80};
  const Ratio exact = ratio_of_pairs(anchor, twice);
  EXPECT_NEAR(exact.value, 2, 1e-12);
  EXPECT_NEAR(*exact.low, 2, 1e-12);
  EXPECT_NEAR(*exact.high, 2, 1e-12);
  // Logarithms 0 and ln 4: mean ln 2, standard error ln 2, t(1 degree, 97.5 %) = 12.7062.
  const Ratio two = ratio_of_pairs(std::vector<double>{1, 1}, std::vector<double>{1, 4});
  EXPECT_NEAR(two.value, 2, 1e-12);
  EXPECT_NEAR(std::log(*two.high), std::log(2) * (1 + 12.7062), 1e-4);
  EXPECT_NEAR(*two.low * *two.high, 4, 1e-9);
  EXPECT_FALSE(ratio_of_pairs(std::vector<double>{1}, std::vector<double>{3}).low);
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

}  // namespace
}  // namespace c63::tools
