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

/// What a program's standard input, output or error can be.
enum class Stream {
  pipe,          ///< from or to the test
  closed,
  null,          ///< /dev/null
  full,          ///< /dev/full
  unread,        ///< a pipe without a reader
  non_blocking,  ///< a non-blocking pipe that is too small for the output, and that the test reads late
  terminal,      ///< in raw mode
};

[[nodiscard]] std::string name(Stream stream);

struct Streams {
  Stream in = Stream::pipe;
  Stream out = Stream::pipe;
  Stream err = Stream::pipe;
  std::string out_file = {};  ///< in place of `out`, if it is not empty
};

/// A program that runs as a child. The test writes to its standard input. Its outputs are collected.
class Process {
 public:
  /// Starts a program. `arguments` begins with its path. Throws std::system_error if it cannot be started.
  explicit Process(const std::vector<std::string>& arguments, const Streams& streams = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Writes to the program's standard input. Returns false if the program does not read it.
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
ProcessResult run(const std::vector<std::string>& arguments, std::string_view input = {}, const Streams& streams = {});

}  // namespace c63::test
