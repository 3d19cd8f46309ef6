#pragma once

#include <string>

#include "c63/error.h"

namespace c63::tools {

struct Subcommand;

// Every build knows the names of all parts. A part that was not built answers with an error that says so.

/// Returns the error of a build without CUDA (device, C63-NO-CUDA).
[[nodiscard]] Error not_built_with_cuda();

/// Returns a subcommand that accepts anything after its name and throws not_built_with_cuda().
[[nodiscard]] Subcommand subcommand_without_cuda(std::string name);

}  // namespace c63::tools
