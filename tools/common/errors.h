#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "c63/error.h"

namespace c63::tools {

/// The exit code of a program that has done its work. If a signal stopped it, the code is 128 + the signal's number instead.
inline constexpr int kExitDone = 0;

/// What a program does if an Error ends it.
struct ErrorEnd {
  ErrorKind kind;
  int exit_code;
  std::string_view advice;
};

inline constexpr std::array kErrorEnds = {
    ErrorEnd{ErrorKind::internal, 1, "please report it with the command line and the input"},
    ErrorEnd{ErrorKind::usage, 2, "see --help"},
    ErrorEnd{ErrorKind::comparison, 3, "this is the result of the comparison"},
    ErrorEnd{ErrorKind::input, 4, "check the input file"},
    ErrorEnd{ErrorKind::limit, 5, "raise the limit or use a smaller input"},
    ErrorEnd{ErrorKind::output, 6, "choose another output, or check its permissions and the free space"},
    ErrorEnd{ErrorKind::memory, 7, "lower --lanes or --threads, or use a machine with more memory"},
    ErrorEnd{ErrorKind::device, 8, "c63enc --list-devices names the devices that can be used"},
};

[[nodiscard]] constexpr const ErrorEnd& end_by(ErrorKind kind) { return *std::ranges::find(kErrorEnds, kind, &ErrorEnd::kind); }
[[nodiscard]] constexpr int exit_code(ErrorKind kind) { return end_by(kind).exit_code; }

/// Returns the kind of error for which a program ends with this exit code, or `otherwise` if there is none.
[[nodiscard]] constexpr ErrorKind kind_of_exit(int code, ErrorKind otherwise) {
  const auto* const found = std::ranges::find(kErrorEnds, code, &ErrorEnd::exit_code);
  return found == kErrorEnds.end() ? otherwise : found->kind;
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
