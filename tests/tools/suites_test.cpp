// cmake/TestSuites.cmake makes a CTest test of each suite of a GoogleTest program. These tests are about its decision
// which suites count as skipped. A suite in which tests failed must never be one.

#include <string>

#include "tools_test_support.h"

namespace c63::test {
namespace {

class Suites : public ToolsTest {
 protected:
  /// Returns CTest's output about a program with one suite, in which one test passes, fails or is skipped for each letter
  /// p, f or s of `tests`.
  std::string ctest(const std::string& tests) {
    // CTest gets a script that prints what GoogleTest prints.
    std::string script = "#!/bin/sh\n[ \"$1\" != --gtest_list_tests ] || { echo 'Suite.'; exit 0; }\n";
    const auto count = [&](char kind) { return std::count(tests.begin(), tests.end(), kind); };
    const auto list = [&](char kind, const std::string& word) {
      if (count(kind) == 0) return;
      script += "echo '" + word + std::to_string(count(kind)) + " tests, listed below:'\n";
      for (int i = 0; i < count(kind); ++i) script += "echo '" + word + "Suite.Test" + std::to_string(i) + "'\n";
    };
    script += "echo '[  PASSED  ] " + std::to_string(count('p')) + " tests.'\n";
    list('s', "[  SKIPPED ] ");
    list('f', "[  FAILED  ] ");
    script += count('f') > 0 ? "echo; echo ' 1 FAILED TEST'; exit 1\n" : "exit 0\n";
    const std::string program = write_file("program", script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const ProcessResult made = run({"/usr/bin/env", "cmake", "-DRUN=;" + program, "-DPREFIX=unit", "-DCOST=",
                                    "-DOUTPUT=" + path("CTestTestfile.cmake"), "-P", C63_SOURCE_DIR "/cmake/TestSuites.cmake"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return run({"/usr/bin/env", "ctest", "--test-dir", path("")}).out;
  }
};

TEST_F(Suites, CountAsSkippedOnlyIfEachTestWasSkipped) {
  const auto expect = [&](const std::string& tests, const std::string& result) {
    const std::string said = ctest(tests);
    EXPECT_NE(said.find(result), std::string::npos) << tests << ": " << said;
  };
  expect("p", "   Passed ");
  expect("ps", "   Passed ");
  expect("ss", "***Skipped ");
  expect("f", "***Failed ");
  expect("fff", "***Failed ");
  expect("sf", "***Failed ");
  expect("psf", "***Failed ");
}

}  // namespace
}  // namespace c63::test
