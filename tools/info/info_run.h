#pragma once

#include <optional>
#include <string>

#include "c63/picture.h"
#include "c63/settings.h"
#include "common/command_line.h"
#include "io/output_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// What c63info's command line asks for.
struct InfoOptions {
  std::string input;
  std::string json;                    ///< file to write it to; "-" is stdout
  bool quick = false;                  ///< reads headers only
  std::optional<FrameRate> rate = {};  ///< the video's; a stream has none
  Durability durability = Durability::process;
  Limits limits;
};

void add_options(CLI::App& app, InfoOptions& options);

/// Does what c63info's command line asks for; returns the exit code. Throws Error.
[[nodiscard]] int run_info(const Session& session, InfoOptions options);

}  // namespace c63::tools
