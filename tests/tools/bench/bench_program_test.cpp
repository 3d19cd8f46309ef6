// c63bench as a program: that its figures can be read. What they say is for people to judge.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/shared_data.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

test::ShellResult bench(const std::string& arguments) { return test::shell("'" C63_BIN_DIR "/c63bench' " + arguments); }

/// What a bench writes as JSON.
nlohmann::json figures_of(const std::string& arguments) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("figures.json");
  const auto result = bench(arguments + " --json '" + file + "' 2>&1 >/dev/null");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto bytes = test::read_bytes(file);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

TEST(BenchProgram, TellsItsVersionWithoutASubcommand) {
  const auto result = bench("--version");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output.rfind("c63bench ", 0), 0U) << result.output;
}

TEST(BenchProgram, WantsASubcommand) {
  const auto result = bench("2>&1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output.rfind("c63bench: one of cpu, filter, scan", 0), 0U) << result.output;
}

TEST(BenchProgram, CpuKernelsAreHeldAgainstCeilings) {
  const auto figures = figures_of("cpu --rounds 1 --only 'sad scalar' -w 64 -h 48");
  EXPECT_GT(figures.at("clock_ghz").get<double>(), 0);
  EXPECT_FALSE(figures.at("revision").get<std::string>().empty());
  std::set<std::string> kernels;
  for (const auto& entry : figures.at("kernels")) {
    kernels.insert(entry.at("kernel").get<std::string>() + " " + entry.at("level").get<std::string>());
    EXPECT_GT(entry.at("per_clock").at("median").get<double>(), 0) << entry;
  }
  EXPECT_TRUE(kernels.contains("sad scalar"));
  EXPECT_FALSE(kernels.contains("sums scalar")) << "only what is asked for";
}

TEST(BenchProgram, FilterAndScanTimeBothForms) {
  for (const std::string name : {"filter", "scan"}) {
    const auto figures = figures_of(name + " --no-cuda --threads 1 --mb 1 --repeats 1 --only histogram,'sum, int'");
    EXPECT_EQ(figures.at("bench"), name);
    EXPECT_EQ(figures.at("threads"), 1);
    std::set<std::string> variants;
    for (const auto& row : figures.at("rows")) {
      variants.insert(row.at("variant").get<std::string>());
      EXPECT_GT(row.at("ms").at("median").get<double>(), 0) << row;
    }
    EXPECT_EQ(variants, (std::set<std::string>{"fast", "serial"}));
  }
}

}  // namespace
}  // namespace c63::tools
