// Tests c63bench cpu --search with searches that have a mistake, as students write them. It must find each of them and
// name its cause.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/folder_test.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

const std::string kExamples = C63_SOURCE_DIR "/tools/race/examples/cpu/";

/// A mistake in the search of examples/cpu/exact.c.
struct Wrong {
  std::set<std::string> causes;                            ///< the report must name one of these; empty: it names none
  std::vector<std::pair<std::string, std::string>> edits;  ///< texts of the example, each replaced everywhere
};

const std::string kFirst = "  const int columns = job->width / 8, rows = job->height / 8;\n";
const std::string kWindow = "      if (left >= right || top >= bottom)";  // after the window's bounds
const std::string kLoops = "for (int y = top; y < bottom; ++y) {\n        for (int x = left; x < right; ++x) {";
const std::string kStore = "      job->vectors[row * columns + column] = vector;\n";

const std::vector<Wrong>& wrong_searches() {
  static const std::vector<Wrong> searches = {
      // Blocks
      {{"not-written"}, {{"column < columns;", "column < columns - 1;"}}},
      {{"not-written"}, {{"row < rows;", "row < rows - 1;"}}},
      {{"one-size-only", "writes-outside", "reads-outside"}, {{kFirst, "  const int columns = 22, rows = 18;\n"}}},
      {{"blocks-transposed"}, {{"row * columns + column", "column * rows + row"}}},
      {{"block-before", "writes-outside"}, {{"row * columns + column", "row * columns + column + 1"}}},
      // Planes
      {{"width-as-pitch"}, {{"job->current_pitch", "job->width"}, {"job->reference_pitch", "job->width"}}},
      {{"current-pitch-for-both"}, {{"job->reference_pitch", "job->current_pitch"}}},
      {{"planes-swapped"},
       {{"current = job->current", "current = job->reference"},
        {"job->current_pitch, job->reference", "job->current_pitch, job->current"}}},
      {{"writes-planes"}, {{kFirst, kFirst + "  ((unsigned char*)job->current)[0] = 0;\n"}}},
      {{"reads-outside"},
       {{"    for (int x = 0; x < 8; ++x)",
         "    unsigned char rows[2][16];\n    __builtin_memcpy(rows[0], a + y * a_pitch, 16);\n"
         "    __builtin_memcpy(rows[1], b + y * b_pitch, 16);\n"
         "    __asm__ volatile(\"\" : : \"m\"(rows));\n    for (int x = 0; x < 8; ++x)"}}},
      // The range and the window
      {{"range-fixed-16"}, {{"job->range", "16"}}},
      {{"range-halved"}, {{"job->range", "larger(1, job->range / 2)"}}},
      {{"border-inclusive"}, {{"job->width - 8", "job->width - 7"}, {"job->height - 8", "job->height - 7"}}},
      {{"range-inclusive"}, {{"+ job->range)", "+ job->range + 1)"}}},
      {{"edge-right-short"},
       {{kWindow, "      if (x0 + job->range > job->width - 8) right = job->width - 9;\n" + kWindow}}},
      {{"edge-bottom-short"},
       {{kWindow, "      if (y0 + job->range > job->height - 8) bottom = job->height - 9;\n" + kWindow}}},
      {{"edge-left-short"}, {{"larger(0, x0", "larger(1, x0"}}},
      {{"edge-top-short"}, {{"larger(0, y0", "larger(1, y0"}}},
      {{}, {{"x0 - job->range", "x0 - job->range / 2"}, {"y0 - job->range", "y0 - job->range / 2"}}},
      {{"reach-left-short"}, {{"x0 - job->range", "x0 - job->range + 1"}}},
      {{"reads-outside", "crash"},
       {{kWindow,
         "      left = x0 - job->range, right = x0 + job->range, top = y0 - job->range, bottom = y0 + job->range;\n" +
             kWindow}}},
      // The order of candidates
      {{"last-of-equals"}, {{"sad < best", "sad <= best"}}},
      {{"columns-first"},
       {{kLoops, "for (int x = left; x < right; ++x) {\n        for (int y = top; y < bottom; ++y) {"}}},
      {{"zero-preferred"}, {{"sad < best", "sad < best || (sad == best && x == x0 && y == y0)"}}},
      // The SAD
      {{"wrapped-difference"}, {{"abs(a", "(unsigned char)(a"}}},
      {{"signed-samples"}, {{"abs(a[y * a_pitch + x] - b", "abs((signed char)a[y * a_pitch + x] - (signed char)b"}}},
      {{"squares"},
       {{"static unsigned sad_of", "static int squared(int d) { return d * d; }\nstatic unsigned sad_of"},
        {"abs(a", "squared(a"}}},
      {{"without-abs"}, {{"abs(a", "(a"}, {"return sad;", "return abs((int)sad);"}}},
      {{"sad-8-bits"}, {{"return sad;", "return sad & 255;"}}},
      {{"sad-8-bits"}, {{"(unsigned short)best", "(unsigned char)best"}}},
      {{"sads-not-written"}, {{"      job->sads[row * columns + column] = (unsigned short)best;\n", ""}}},
      {{"seven-rows"}, {{"y < 8; ++y", "y < 7; ++y"}}},
      {{"seven-columns"}, {{"x < 8; ++x", "x < 7; ++x"}}},
      // The vector
      {{"components-swapped"}, {{kStore, "      vector = (c63_motion_vector){vector.y, vector.x};\n" + kStore}}},
      {{"window-corner"}, {{"(x - x0)", "(x - left)"}, {"(y - y0)", "(y - top)"}}},
      {{"vector-4-bits"}, {{"(x - x0)", "(((x - x0 + 8) & 15) - 8)"}, {"(y - y0)", "(((y - y0 + 8) & 15) - 8)"}}},
      {{"absolute-place"}, {{"(x - x0)", "x"}, {"(y - y0)", "y"}}},
      {{"negated"}, {{"(x - x0)", "(x0 - x)"}, {"(y - y0)", "(y0 - y)"}}},
      // Values that are kept, or that nobody has set
      {{"first-time-only", "unsteady"}, {{"unsigned best = ~0u;", "static unsigned best = ~0u;"}}},
      {{"first-time-only", "unsteady"},
       {{kStore,
         "      static int searched = 0;\n      if (searched) vector.x = (signed char)-vector.x;\n"
         "      searched |= row == rows - 1 && column == columns - 1;\n" +
             kStore}}},
      {{"stale", "first-time-only", "unsteady"},
       {{"job->vectors[", "kept_vectors["},
        {"job->sads[", "kept_sads["},
        {kFirst, kFirst + "  static c63_motion_vector kept_vectors[4096];\n  static unsigned short kept_sads[4096];\n"
                          "  __builtin_memcpy(job->vectors, kept_vectors, 2 * columns * rows);\n"
                          "  __builtin_memcpy(job->sads, kept_sads, 2 * columns * rows);\n"}}},
      {{"unsteady"},
       {{"unsigned best = ~0u;",
         "unsigned best = *(volatile unsigned*)((char*)malloc(4096) + 8 * (rand() % 8)) % 65536 + rand() % 3000;"}}},
      // What ends the process
      {{"hangs"},
       {{"          if (sad < best) {",
         "          if (x == right - 1 && column == 3) --x;\n          if (sad < best) {"}}},
      {{"crash"}, {{kFirst, kFirst + "  unsigned short* volatile sads = NULL;\n"}, {"job->sads[", "sads["}}},
      {{"crash"}, {{kFirst, kFirst + "  volatile int zero = 0;\n  if (job->range / 4 == 0) zero = 100 / zero;\n"}}},
      {{"crash"},
       {{kFirst, kFirst + "  for (int i = 0; i < 1000; ++i) __builtin_memset(malloc(64 << 20), 1, 4096);\n"}}},
      {{"exits"}, {{kFirst, kFirst + "  exit(0);\n"}}},
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

  /// Writes the example with these edits to a file, and returns its path.
  std::string write_search(const std::string& name, const Wrong& wrong) const {
    std::string text = test::read_file(kExamples + "exact.c");
    for (const auto& [from, to] : wrong.edits) {
      EXPECT_NE(text.find(from), std::string::npos) << name << ": " << from;
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    }
    return write_file(name, text);
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
  for (std::size_t i = 0; i < wrong_searches().size(); ++i) {
    files += (i == 0 ? "" : ",") + write_search("wrong" + std::to_string(i) + ".c", wrong_searches()[i]);
  }
  // A small range takes a third of the time. It is not 8, where vectors fit in 4 bits.
  const nlohmann::json entrants = race(files, "--limit 2 --seed 7 --range 9", 3);
  ASSERT_EQ(entrants.size(), wrong_searches().size());
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    const Wrong& wrong = wrong_searches()[i];
    const nlohmann::json& entrant = entrants[i];
    EXPECT_TRUE(entrant.at("verdict") == "wrong" || entrant.at("verdict") == "stopped") << entrant;
    EXPECT_FALSE(entrant.at("first").get<std::string>().empty()) << entrant;
    bool is_named = false;
    for (const auto& suspicion : entrant.at("suspicions")) {
      const std::string id = suspicion.at("id");
      is_named |= wrong.causes.contains(id);
      EXPECT_TRUE(id != "one-size-only" || wrong.causes.contains(id)) << entrant;
    }
    EXPECT_EQ(is_named, !wrong.causes.empty()) << wrong.edits[0].second << ": " << entrant.dump(1);
  }
}

TEST_F(WrongSearches, ExamplesAreRightOrLoseLittle) {
  for (const char* options : {"", "--seed 2 --range 9", "--seed 3 --range 33"}) {
    const nlohmann::json entrants = race(kExamples + "exact.c", options, 0);
    EXPECT_EQ(entrants.at(0).at("verdict"), "right") << entrants;
  }
  std::string files;
  for (const char* name : {"three_step", "diamond", "hexagon", "pyramid"})
    files += (files.empty() ? "" : ",") + kExamples + name + ".c";
  for (const auto& entrant : race(files, "--inexact", 0)) {
    EXPECT_EQ(entrant.at("verdict"), "right") << entrant;
    EXPECT_GT(entrant.at("more_sad_percent").get<double>(), 0) << entrant;
    EXPECT_LT(entrant.at("more_sad_percent").get<double>(), 60) << entrant;
  }
  EXPECT_EQ(race(kExamples + "diamond.c", "", 3).at(0).at("verdict"), "wrong") << "exact search was asked for";
}

TEST_F(WrongSearches, WhatCannotBeRacedSaysWhy) {
  std::string errors;  // the compiler's messages about them are long
  for (int i = 0; i < 200; ++i) errors += "  job->nothing = 1;\n";
  const std::string broken = write_file("broken.c", "#include <c63/motion_kernel.h>\nC63_MOTION_EXPORT void c63_motion_search(const "
                                                    "c63_motion_job* job) {\n" + errors + "}\n");
  const auto refused = bench("cpu --search '" + broken + "' -w 64 -h 48");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.output.find("broken.c:3:"), std::string::npos)
      << "the compiler's first message has the file's own line: " << refused.output;
  EXPECT_EQ(bench("cpu --search '" + write_file("other.c", "int something(void) { return 1; }\n") + "' -w 64 -h 48").exit_code, 2);
  EXPECT_EQ(bench("cpu --search /no/such/file.c").exit_code, 4);
  const auto compiler =
      test::shell("CC=/no/compiler '" C63_BIN_DIR "/c63bench' cpu --search '" + kExamples + "exact.c' 2>&1");
  EXPECT_EQ(compiler.exit_code, 2);
  EXPECT_NE(compiler.output.find("C63-NO-COMPILER"), std::string::npos) << compiler.output;
  // The first file does not compile. The second search must still run.
  const nlohmann::json entrants = race(broken + "," + kExamples + "exact.c", "", 2);
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
