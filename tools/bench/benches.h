#pragma once

#include <vector>

#include "common/command_line.h"

namespace c63::bench {

// Each of these prints its results to standard output. With --json it also writes them to a file. Only board_bench() has no
// --json: it ranks the results in such files, and can write a page.
[[nodiscard]] tools::Subcommand cpu_bench();
[[nodiscard]] tools::Subcommand stage_bench();
[[nodiscard]] tools::Subcommand decode_bench();
[[nodiscard]] tools::Subcommand board_bench();
[[nodiscard]] tools::Subcommand filter_bench();
[[nodiscard]] tools::Subcommand scan_bench();
[[nodiscard]] tools::Subcommand estimate_bench();

// Makes a page from earlier results.
[[nodiscard]] tools::Subcommand page_bench();

// These exist only in a build with CUDA. They throw Error (device) if no GPU can be used.
[[nodiscard]] tools::Subcommand encode_bench();
[[nodiscard]] tools::Subcommand decide_bench();
[[nodiscard]] tools::Subcommand frame_bench();
[[nodiscard]] tools::Subcommand me_bench();

/// Returns all benchmarks of this build.
[[nodiscard]] std::vector<tools::Subcommand> benches();

}  // namespace c63::bench
