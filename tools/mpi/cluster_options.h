#pragma once

#include <string>

#include "encode/encode_options.h"

namespace c63::tools {

/// The command line of c63mpi.
struct ClusterOptions {
  EncodeOptions encode;
  int segments = 0;            ///< 0: the program chooses
  std::string segment_folder;  ///< folder of finished segments; empty: next to the output
};

void add_options(CLI::App& app, ClusterOptions& options);

}  // namespace c63::tools
