#pragma once

#include "c63/error.h"
#include "decode/decode_options.h"

namespace c63::tools {

/// Prints the frames of the input (--list) and writes them to the file of --index. If the list ends with an error, the
/// frames before it are listed first, then the error is thrown. Throws Error (input, C63-NOT-SEEKABLE) for a pipe.
void list_frames(const DecodeOptions& options, const ErrorPlace& place);

}  // namespace c63::tools
