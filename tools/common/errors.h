#pragma once

#include <string>
#include <string_view>

#include "c63/error.h"

namespace c63::tools {

/// The exit codes of programs. If a signal stopped the program, the code is 128 + the signal's number instead.
enum ExitCode : int {
  kExitDone = 0,
  kExitInternal = 1,
  kExitUsage = 2,
  kExitComparison = 3,
  kExitInput = 4,
  kExitLimit = 5,
  kExitOutput = 6,
  kExitMemory = 7,
  kExitDevice = 8,
};

[[nodiscard]] constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal:
      return kExitInternal;
    case ErrorKind::usage:
      return kExitUsage;
    case ErrorKind::input:
      return kExitInput;
    case ErrorKind::limit:
      return kExitLimit;
    case ErrorKind::output:
      return kExitOutput;
    case ErrorKind::memory:
      return kExitMemory;
    case ErrorKind::device:
      return kExitDevice;
    case ErrorKind::comparison:
      return kExitComparison;
  }
  return kExitInternal;
}

/// Returns the kind of error for which a program ends with this exit code, or `otherwise` if there is none.
[[nodiscard]] constexpr ErrorKind kind_of_exit(int code, ErrorKind otherwise) {
  for (const ErrorKind kind : {ErrorKind::internal, ErrorKind::usage, ErrorKind::input, ErrorKind::limit, ErrorKind::output,
                               ErrorKind::memory, ErrorKind::device, ErrorKind::comparison}) {
    if (exit_code(kind) == code) return kind;
  }
  return otherwise;
}

/// An Error with a note that the program adds, such as how much was written before it.
class NotedError : public Error {
 public:
  NotedError(const Error& error, std::string note) : Error(error), note_(std::move(note)) {}
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

 private:
  std::string note_;
};

/// Returns the line that the user sees: file, frame, block, message, byte offset, note, id, advice. The program's name
/// is not in it.
[[nodiscard]] std::string error_line(const Error& error);

// Every build accepts the names of all parts, such as subcommands. A part that was not built returns an error that says
// so.

/// Returns the error (device, C63-NO-CUDA) for something that only a build with CUDA can do.
[[nodiscard]] Error not_built_with_cuda();

}  // namespace c63::tools
