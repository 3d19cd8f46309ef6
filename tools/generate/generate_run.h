#pragma once

#include <string>

#include "common/command_line.h"
#include "files/output_file.h"
#include "generate/sequence_generator.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63gen.
struct GenerateOptions {
  SequenceOptions sequence;
  std::string output;
  Durability durability = Durability::process;  ///< of all files that this program writes
  bool keep_partial = false;                    ///< after a stop, the written part replaces an older file
  std::string truth;  ///< file for the true motion; empty: none
};

void add_options(CLI::App& app, GenerateOptions& options);

/// Writes the video and, if requested, its true motion. Returns the exit code.
[[nodiscard]] int run_generate(const Session& session, const GenerateOptions& options);

}  // namespace c63::tools
