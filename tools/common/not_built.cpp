#include "common/not_built.h"

#include <CLI/App.hpp>
#include <utility>

#include "common/command_line.h"

namespace c63::tools {

Error not_built_with_cuda() { return {ErrorKind::device, "C63-NO-CUDA", "this c63 was built without CUDA"}; }

Subcommand subcommand_without_cuda(std::string name) {
  return {.name = std::move(name),
          .description = "Needs CUDA: " + not_built_with_cuda().message(),
          .add_options = [](CLI::App& app) { app.fallthrough(false)->allow_extras(); },
          .run = [](Session&) -> int { throw not_built_with_cuda(); }};
}

}  // namespace c63::tools
