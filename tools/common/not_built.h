#pragma once

#include <string>

#include "c63/error.h"

namespace c63::tools {

struct Subcommand;

// Every build accepts the names of all parts, such as subcommands. A part that was not built returns an error that says
// so.

/// Returns the error (device, C63-NO-CUDA) for something that only a build with CUDA can do.
[[nodiscard]] Error not_built_with_cuda();

/// Returns a subcommand that accepts anything after its name and throws not_built_with_cuda().
[[nodiscard]] Subcommand subcommand_without_cuda(std::string name);

}  // namespace c63::tools
