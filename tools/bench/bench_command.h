#pragma once

#include <memory>
#include <string>
#include <utility>

#include "bench/bench_options.h"
#include "common/command_line.h"
#include "common/errors.h"

namespace c63::bench {

/// Makes a subcommand that measures. It calls `run` with the parsed options and the session.
template <typename Options, typename Run>
[[nodiscard]] tools::Subcommand bench_command(std::string name, std::string description, Run run) {
  const auto options = std::make_shared<Options>();
  return {.name = std::move(name),
          .description = std::move(description),
          .add_options = [options](CLI::App& app) { bench::add_options(app, *options); },
          .run =
              [options, run = std::move(run)](const tools::Session& session) {
                run(*options, session);
                return tools::kExitDone;
              }};
}

}  // namespace c63::bench
