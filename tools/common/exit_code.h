#pragma once

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

}  // namespace c63::tools
