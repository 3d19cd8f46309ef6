// Tests c63bench cpu --search with the mistakes of wrong.c. It must find each of them and name its cause.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/folder_test.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

struct Wrong {
  int mistake;                   ///< its number in wrong.c
  std::set<std::string> causes;  ///< the report must name one of these; empty: the mistake need only be found
};

const std::vector<Wrong>& wrong_searches() {
  static const std::vector<Wrong> searches = {
      {1, {"not-written"}},
      {2, {"not-written"}},
      {3, {"one-size-only", "writes-outside", "reads-outside"}},
      {4, {"width-as-pitch"}},
      {5, {"current-pitch-for-both"}},
      {6, {"range-fixed-16"}},
      {7, {"border-inclusive"}},
      {8, {"range-inclusive"}},
      {9, {"edge-right-short"}},
      {10, {"edge-left-short"}},
      {11, {"edge-top-short"}},
      {12, {"reach-left-short"}},
      {13, {"edge-bottom-short"}},
      {14, {"last-of-equals"}},
      {15, {"columns-first"}},
      {16, {"zero-preferred"}},
      {17, {"wrapped-difference"}},
      {18, {"signed-samples"}},
      {19, {"squares"}},
      {20, {"without-abs"}},
      {21, {"sad-8-bits"}},
      {22, {"seven-rows"}},
      {23, {"seven-columns"}},
      {24, {"first-time-only", "unsteady"}},
      {25, {"unsteady"}},
      {26, {"unsteady", "equals-unordered", "last-of-equals"}},
      {27, {"hangs"}},
      {28, {"crash"}},
      {29, {"components-swapped"}},
      {30, {"window-corner"}},
      {31, {"blocks-transposed"}},
      {32, {"block-before", "writes-outside"}},
      {33, {"vector-4-bits"}},
      {34, {"sad-8-bits"}},
      {35, {"sads-not-written"}},
      {36, {"first-time-only", "unsteady"}},
      {37, {"reads-outside"}},
      {38, {"writes-planes"}},
      {39, {"planes-swapped"}},
      {40, {"stale", "first-time-only", "unsteady"}},
      {41, {"range-halved"}},
      {42, {"crash"}},
      {43, {"exits"}},
      {44, {"crash"}},
      {46, {"reads-outside", "crash"}},
      {47, {"absolute-place"}},
      {48, {"negated"}},
  };
  return searches;
}

/// Runs c63bench. To save time, searches are compiled with fewer optimizations.
test::ShellResult bench(const std::string& arguments) {
  return test::shell("CFLAGS=-O1 '" C63_BIN_DIR "/c63bench' " + arguments + " 2>&1");
}

class WrongSearches : public test::FolderTest {
 protected:
  void SetUp() override {
    if (!test::have_command("cc")) GTEST_SKIP() << "no C compiler (cc)";
  }

  std::string write_search(int mistake) const {
    const std::string number = std::to_string(mistake);
    return write_file("wrong" + number + ".c",
                      "#define MISTAKE " + number + "\n" + test::read_file(C63_SOURCE_DIR "/tests/tools/race/wrong.c"));
  }

  /// Races the searches in these files, and returns their results in the order of the files.
  nlohmann::json race(const std::string& files, const std::string& options, int exit_code) const {
    const std::string json = path("race.json");
    const auto result = bench("cpu --search " + files + " --rounds 1 -w 64 -h 48 --json '" + json + "' " + options);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    return nlohmann::json::parse(test::read_file(json)).at("entrants");
  }
};

TEST_F(WrongSearches, AreFoundAndTheirCausesNamed) {
  std::string files;
  for (const Wrong& wrong : wrong_searches()) files += (files.empty() ? "" : ",") + write_search(wrong.mistake);
  // A small range takes a third of the time. It is not 8, where vectors fit in 4 bits.
  const nlohmann::json entrants = race(files, "--limit 2 --seed 7 --range 9", 3);
  ASSERT_EQ(entrants.size(), wrong_searches().size());
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    const Wrong& wrong = wrong_searches()[i];
    const nlohmann::json& entrant = entrants[i];
    EXPECT_TRUE(entrant.at("verdict") == "wrong" || entrant.at("verdict") == "stopped") << wrong.mistake << entrant;
    EXPECT_FALSE(entrant.at("first").get<std::string>().empty()) << entrant;
    bool is_named = false;
    for (const auto& suspicion : entrant.at("suspicions"))
      is_named = is_named || wrong.causes.contains(suspicion.at("id").get<std::string>());
    EXPECT_TRUE(is_named) << "mistake " << wrong.mistake << ": " << entrant.dump(1);
  }
}

TEST_F(WrongSearches, TheRightOneIsRightWithOtherSamplesToo) {
  const std::string right = write_search(0);
  for (const char* options : {"--seed 2 --range 9", "--seed 3 --range 33"}) {
    const nlohmann::json entrants = race(right, options, 0);
    EXPECT_EQ(entrants.at(0).at("verdict"), "right") << entrants;
  }
}

TEST_F(WrongSearches, ExamplesAreRightOrLoseLittle) {
  const std::string folder = C63_SOURCE_DIR "/tools/race/examples/cpu/";
  EXPECT_EQ(race(folder + "exact.c", "", 0).at(0).at("verdict"), "right");
  std::string files;
  for (const char* name : {"three_step", "diamond", "hexagon", "pyramid"})
    files += (files.empty() ? "" : ",") + folder + name + ".c";
  for (const auto& entrant : race(files, "--inexact", 0)) {
    EXPECT_EQ(entrant.at("verdict"), "right") << entrant;
    EXPECT_GT(entrant.at("more_sad_percent").get<double>(), 0) << entrant;
    EXPECT_LT(entrant.at("more_sad_percent").get<double>(), 60) << entrant;
  }
  EXPECT_EQ(race(folder + "diamond.c", "", 3).at(0).at("verdict"), "wrong") << "exact search was asked for";
}

TEST_F(WrongSearches, WhatCannotBeRacedSaysWhy) {
  const std::string broken = write_file("broken.c", "#include <c63/motion_kernel.h>\nC63_MOTION_EXPORT void c63_motion_search(const "
                                                    "c63_motion_job* job) {\n  job->nothing = 1;\n}\n");
  const auto refused = bench("cpu --search '" + broken + "' -w 64 -h 48");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.output.find("broken.c:3:"), std::string::npos)
      << "the compiler's message has the file's own lines: " << refused.output;
  EXPECT_EQ(bench("cpu --search '" + write_file("other.c", "int something(void) { return 1; }\n") + "' -w 64 -h 48").exit_code, 2);
  EXPECT_EQ(bench("cpu --search /no/such/file.c").exit_code, 4);
  const auto compiler =
      test::shell("CC=/no/compiler '" C63_BIN_DIR "/c63bench' cpu --search '" + write_search(0) + "' 2>&1");
  EXPECT_EQ(compiler.exit_code, 2);
  EXPECT_NE(compiler.output.find("C63-NO-COMPILER"), std::string::npos) << compiler.output;
  // The first file does not compile. The second search must still run.
  const nlohmann::json entrants = race(broken + "," + write_search(0), "", 2);
  EXPECT_EQ(entrants.at(0).at("verdict"), "refused");
  EXPECT_EQ(entrants.at(1).at("verdict"), "right");
}

TEST_F(WrongSearches, NothingIsLeftOfOneThatCrashesOrForks) {
  const std::string temporary = path("tmp");
  std::filesystem::create_directory(temporary);
  const std::string child = path("child");
  const auto race_one = [&](const std::string& name, const std::string& body) {
    write_file(name, "#include <c63/motion_kernel.h>\n#include <stdio.h>\n#include <unistd.h>\n"
                     "C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) {\n" + body + "}\n");
    return test::shell("cd '" + folder_.string() + "' && TMPDIR='" + temporary + "' '" C63_BIN_DIR "/c63bench' cpu --search=" + name +
                       " -w 64 -h 48 --rounds 1 2>&1");
  };
  EXPECT_EQ(race_one("-x.c", "  *(volatile int*)8 = job->width;\n").exit_code, 3);
  const auto forked = race_one("forks.c", "  if (fork() == 0) { setsid(); if (fork() != 0) _exit(0); FILE* f = fopen(\"" + child + "\", \"a\"); fprintf(f, \"%d\\n\", getpid()); fclose(f); sleep(600); }\n"
                                          "  usleep(200000);\n  *(volatile int*)8 = job->width;\n");
  EXPECT_EQ(forked.exit_code, 3) << forked.output;
  EXPECT_TRUE(std::filesystem::is_empty(temporary)) << test::shell("ls -R '" + temporary + "'").output;
  std::ifstream pids(child);
  int count = 0;
  for (pid_t pid = 0; pids >> pid; ++count) {
    for (int i = 0; i < 100 && ::kill(pid, 0) == 0 && test::shell("grep -q 'State:.*Z' /proc/" + std::to_string(pid) + "/status").exit_code != 0; ++i) ::usleep(20'000);
    EXPECT_TRUE(::kill(pid, 0) != 0 || test::shell("grep -q 'State:.*Z' /proc/" + std::to_string(pid) + "/status").exit_code == 0) << pid << " still runs";
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace c63::tools
