#pragma once

#include <string>

#include "encode/encode_options.h"

namespace c63::tools {

/// What c63mpi's command line asks for.
struct ClusterOptions {
  EncodeOptions encode;
  int segments = 0;            ///< 0: chosen
  std::string segment_folder;  ///< where finished segments wait; empty: beside the output
};

void add_options(CLI::App& app, ClusterOptions& options);

}  // namespace c63::tools
