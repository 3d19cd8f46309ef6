#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace c63::test {

/// How a program ended, and its outputs.
struct ProcessResult {
  int exit_code = -1;  ///< -1 if a signal killed it
  int signal = 0;
  std::string out;
  std::string err;
  /// The most resident memory; at least what this test program had when it started the program.
  std::uint64_t peak_bytes = 0;
};

/// A running program. Its standard input is a pipe from this process, and its outputs are collected.
class Process {
 public:
  enum class Stdout {
    collected,
    closed,  ///< a pipe without a reader
  };

  /// `arguments` starts with the program's path. Standard output goes to `stdout_file` if one is given. Throws
  /// std::system_error.
  explicit Process(const std::vector<std::string>& arguments, Stdout output = Stdout::collected,
                   const std::string& stdout_file = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Returns false if the program no longer reads.
  bool write(std::string_view bytes);
  void close_input();
  void kill(int signal) const;
  [[nodiscard]] bool running() const;
  /// Waits until standard error contains `text` (returns true) or is closed (returns false).
  [[nodiscard]] bool wait_for_error_output(std::string_view text);
  ProcessResult wait();

 private:
  struct Collector;

  pid_t pid_ = -1;
  int input_ = -1;
  std::unique_ptr<Collector> out_;
  std::unique_ptr<Collector> err_;
};

/// Runs a program to its end with `input` on its standard input.
ProcessResult run(const std::vector<std::string>& arguments, std::string_view input = {});

}  // namespace c63::test
