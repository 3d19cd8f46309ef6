#pragma once

#include <cstdint>
#include <string>

#include "bench/bench.h"
#include "common/process.h"
#include "race/race_judge.h"
#include "race/search_process.h"

namespace c63::bench {

/// Races each of the options' files in its own process, in which it may crash or hang. Its command line is `arguments`,
/// then the file. Prints what the process prints. Adds the file's entrant and rows to the report, and writes it. If the
/// process hangs, crashes, ends early or refuses the file, the entrant's verdict says so. `finish` may add to the
/// entrant of a file.
void race_files(
    Report& report, const Options& options, const std::string& arguments, const tools::ProcessLimits& limits,
    const std::function<void(Json& entrant, const std::string& file)>& finish = [](Json&, const std::string&) {});

/// Throws Error unless all entrants are right. The kind is comparison (C63-RACE-WRONG). But if an entrant's process has
/// refused the file, the kind is that of the process's error (C63-RACE-REFUSED).
void require_all_right(const Json& figures);

/// Adds a row, unless the report has one of the same search on the same task. Built-in searches are timed for each file.
void add_once(Report& report, Json row);

/// Says in `entrant` why the process of a search has ended, and prints it. `stage` is what the process did last.
void add_end(Json& entrant, const std::string& stage, const race::SearchEnded& end, double limit_s);

/// What a race does on its device.
struct Race {
  /// Searches all test cases with this seed, and calls the last argument with the name of each.
  std::function<void(race::Judge&, std::uint32_t, const std::function<void(const std::string&)>&)> judge;
  std::function<void(race::Judge&)> time;     ///< adds rows of timed runs, and judges their results; empty: there are none
  std::function<void(Json&)> look;            ///< adds to the entrant what is known of a right search
  std::function<void(const std::string& stage, const Json& so_far)> tell = [](const auto&, const auto&) {};  ///< before each step
};

/// Judges and times a search. Returns the entrant with its verdict.
[[nodiscard]] Json run_race(const Options& options, Json entrant, const Race& race);

/// Races the files of --search on the CPU, each in its own process or with --in-process in this one, then prints all of them with
/// the built-in searches. Throws Error if one is not right.
void race_cpu_files(const Options& options);

/// The limits of a process that runs users' code: bytes of a file that it writes, and open files.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{64} << 20;
inline constexpr int kMostFiles = 256;

/// Returns a seed that nobody can know before. It is not 0.
[[nodiscard]] std::uint32_t unknown_seed();
/// Returns the seed of round `round`.
[[nodiscard]] inline std::uint32_t seed_of_round(std::uint32_t seed, int round) { return seed * 2654435761U + static_cast<std::uint32_t>(round); }
[[nodiscard]] std::string text_of(const std::string& path);

/// Runs `command` under NVIDIA's profiler ncu, which takes seconds. Counts its first launch of c63_motion after
/// cudaProfilerStart(). Returns the figures in percent of the GPU's peak, with a line for people in `text`. Returns only
/// `why_not` if ncu is missing, counts nothing or takes longer than half a minute. Keeps ncu's profile in the file `report`, whose name
/// ends in .ncu-rep; `report` of the result is the name if there is one.
[[nodiscard]] Json count_by_ncu(const std::string& command, const std::string& report);

/// Returns the same from what ncu --csv wrote, and from its exit code.
[[nodiscard]] Json counters_of(const std::string& csv, int exit_code);

}  // namespace c63::bench
