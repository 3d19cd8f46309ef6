#pragma once

#include "common/command_line.h"
#include "encode/encode_options.h"

namespace c63::tools {

/// Does what c63enc's command line asks for; returns the exit code. Throws Error.
[[nodiscard]] int run_encode(const Session& session, EncodeOptions options);

}  // namespace c63::tools
