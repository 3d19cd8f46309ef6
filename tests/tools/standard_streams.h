#pragma once

#include <string>
#include <vector>

namespace c63::test {

/// What a program's standard input, output or error can be.
enum class Stream {
  closed,
  null,          ///< /dev/null
  full,          ///< /dev/full
  pipe,          ///< a pipe whose reader begins late; as input, an empty pipe
  non_blocking,  ///< a non-blocking pipe that is too small for the output
  terminal,      ///< in raw mode
};

[[nodiscard]] std::string name(Stream stream);

struct StreamResult {
  int exit_code = -1;  ///< -1 if a signal killed it
  std::string out;     ///< what was written to a pipe or terminal
  std::string err;
};

/// Runs a program until it ends, with these kinds of standard input, output and error. It reads `input`, unless `in` is
/// closed or /dev/null.
[[nodiscard]] StreamResult run_with_streams(const std::vector<std::string>& arguments, Stream in, Stream out, Stream err,
                                            const std::string& input = {});

}  // namespace c63::test
