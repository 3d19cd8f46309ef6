#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace c63::test {

/// How a program ended, and what it wrote.
struct ProcessResult {
  int exit_code = -1;  ///< -1 if a signal killed it
  int signal = 0;
  std::string out;
  std::string err;
  /// The most resident memory. The system also counts what this test program had when it started the other one.
  std::uint64_t peak_bytes = 0;
};

/// A program that runs as a child. The test writes to its standard input through a pipe. Its outputs are collected.
class Process {
 public:
  enum class Stdout {
    collected,
    closed,  ///< a pipe without a reader
  };

  /// Starts a program. `arguments` begins with its path. Its standard output goes to `stdout_file` if that is not
  /// empty. Throws std::system_error if the program cannot be started.
  explicit Process(const std::vector<std::string>& arguments, Stdout output = Stdout::collected,
                   const std::string& stdout_file = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Writes to the program's standard input. Returns false if the program no longer reads it.
  bool write(std::string_view bytes);
  void close_input();
  void kill(int signal) const;
  [[nodiscard]] bool running() const;
  /// Waits until the program has written `text` to standard error, and returns true. Returns false if it closes
  /// standard error before that.
  [[nodiscard]] bool wait_for_error_output(std::string_view text);
  ProcessResult wait();

 private:
  struct Collector;

  pid_t pid_ = -1;
  int input_ = -1;
  std::unique_ptr<Collector> out_;
  std::unique_ptr<Collector> err_;
};

/// Returns the words of `first`, then those of `more`.
inline std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// Runs a program until it ends. `input` is what it reads from standard input.
ProcessResult run(const std::vector<std::string>& arguments, std::string_view input = {});

}  // namespace c63::test
