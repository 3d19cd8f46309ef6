#pragma once

#include "c63/error.h"
#include "decode/decode_options.h"

namespace c63::tools {

/// Prints the frames of the input for --list, and writes them to the file of --index. Throws the error that ends the
/// list, after the frames before it. Throws Error (input, C63-NOT-SEEKABLE) for a pipe.
void list_frames(const DecodeOptions& options, const ErrorPlace& place);

}  // namespace c63::tools
