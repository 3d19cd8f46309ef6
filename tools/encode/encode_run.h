#pragma once

#include "common/command_line.h"
#include "encode/encode_options.h"

namespace c63::tools {

/// Does what the options of c63enc say. Returns the exit code. Throws Error.
[[nodiscard]] int run_encode(const Session& session, EncodeOptions options);

}  // namespace c63::tools
