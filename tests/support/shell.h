#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace c63::test {

struct ShellResult {
  int exit_code = -1;
  std::string output;  ///< standard output; with 2>&1 in the command, also standard error
};

/// Runs a command line with /bin/sh.
inline ShellResult shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  ShellResult result;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) result.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return result;
}

/// Expects that a command ended with 0, and returns its result.
inline ShellResult expect_success(ShellResult result) {
  EXPECT_EQ(result.exit_code, 0) << result.output;
  return result;
}

inline bool have_command(const std::string& name) { return shell("command -v " + name + " >/dev/null").exit_code == 0; }

}  // namespace c63::test
