#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/process.h"
#include "race/race_judge.h"

namespace c63::bench {

/// What came of one file that was raced in a process of its own.
struct RacedFile {
  nlohmann::ordered_json figures;  ///< all that its process wrote; empty if it wrote nothing
  nlohmann::ordered_json entrant;  ///< name, verdict, what is wrong, causes, and figures of the kernel
};

/// Starts this program again to race one file: `arguments`, the file, and a place for figures. Prints what it prints. A
/// process that hangs, crashes or refuses the file is told in the entrant. Limits of files are added to the given ones.
[[nodiscard]] RacedFile race_in_own_process(const std::string& arguments, const std::string& file,
                                            tools::ProcessLimits limits);

/// Throws Error if an entrant of the figures is not right: comparison (C63-RACE-WRONG), or the kind with which its
/// process ended.
void require_all_right(const nlohmann::ordered_json& figures);

[[nodiscard]] nlohmann::ordered_json race_json(const race::Verdict& verdict);

[[nodiscard]] std::uint32_t seed_by_clock();
[[nodiscard]] std::string text_of(const std::string& path);

}  // namespace c63::bench
