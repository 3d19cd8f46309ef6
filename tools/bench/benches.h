#pragma once

#include <vector>

#include "common/command_line.h"

namespace c63::bench {

// Each prints its figures to standard output and, with --json, writes them to a file.
[[nodiscard]] tools::Subcommand cpu_bench();
[[nodiscard]] tools::Subcommand stage_bench();
[[nodiscard]] tools::Subcommand decode_bench();
[[nodiscard]] tools::Subcommand filter_bench();
[[nodiscard]] tools::Subcommand scan_bench();

// Makes a page from figures that were measured before.
[[nodiscard]] tools::Subcommand page_bench();

// In a build with CUDA. They throw Error (device) where no GPU can be used.
[[nodiscard]] tools::Subcommand encode_bench();
[[nodiscard]] tools::Subcommand decide_bench();
[[nodiscard]] tools::Subcommand frame_bench();
[[nodiscard]] tools::Subcommand me_bench();

/// All that this build has.
[[nodiscard]] std::vector<tools::Subcommand> benches();

}  // namespace c63::bench
