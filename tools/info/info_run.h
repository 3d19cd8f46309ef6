#pragma once

#include <optional>
#include <string>

#include "c63/picture.h"
#include "c63/settings.h"
#include "common/command_line.h"
#include "files/output_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63info.
struct InfoOptions {
  std::string input;
  std::string json;                    ///< file for the JSON; "-" is standard output
  bool quick = false;                  ///< read headers only
  std::optional<FrameRate> rate = {};  ///< frame rate of the video; the stream has none
  Durability durability = Durability::process;
  Limits limits;
};

void add_options(CLI::App& app, InfoOptions& options);

/// Does what the options of c63info say. Returns the exit code. Throws Error.
[[nodiscard]] int run_info(const Session& session, const InfoOptions& options);

}  // namespace c63::tools
