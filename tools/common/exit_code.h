#pragma once

#include "c63/error.h"

namespace c63::tools {

/// What a program returns to its caller. 128 + the signal's number after SIGINT and SIGTERM.
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

[[nodiscard]] ExitCode exit_code(ErrorKind kind);

}  // namespace c63::tools
