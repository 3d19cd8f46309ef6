#pragma once

#include "common/command_line.h"
#include "encode/encode_options.h"

namespace c63::tools {

/// Completes the options of a c63enc command line. Throws Error (usage) if options exclude each other, or if two of the
/// files are the same.
void settle_encode(EncodeOptions& options, const CommonSettings& common);

}  // namespace c63::tools
