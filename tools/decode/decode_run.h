#pragma once

#include "common/command_line.h"
#include "decode/decode_options.h"

namespace c63::tools {

/// The samples of a decoded frame that a program writes.
enum class DecodeOutput { picture, prediction };

/// Does what the options of c63dec or c63pred say. Returns the exit code. Throws Error.
[[nodiscard]] int run_decode(const Session& session, DecodeOptions options, DecodeOutput what);

}  // namespace c63::tools
