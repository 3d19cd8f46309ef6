#pragma once

#include <cstdint>
#include <string>

#include "bench/bench.h"
#include "common/process.h"
#include "race/race_judge.h"

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

/// Writes the name of the step that begins now to the file of results. If this process does not return, its parent reads the
/// name there.
void begin_stage(Report& report, const std::string& stage);

/// What a race in this process does on its device.
struct Race {
  /// Searches all test cases with this seed, and calls the last argument with the name of each.
  std::function<void(race::Judge&, std::uint32_t, const std::function<void(const std::string&)>&)> judge;
  std::function<bool()> time;         ///< adds rows of timed runs; returns whether they found what exact search finds
  std::function<void(Json&)> look;    ///< adds to the entrant what is known of a right search
  const char* why_timed_runs_differ;  ///< likely cause if only the timed runs are wrong
};

/// Judges and times a search, and adds the entrant with its verdict to the report, which the caller finishes.
void run_race(Report& report, const Options& options, Json entrant, const Race& race);

/// Races the files of --search on the CPU, then prints all of them with the built-in searches. With --in-process,
/// judges and times the only file in this process. Throws Error if one is not right.
void race_cpu_files(const Options& options);

[[nodiscard]] std::uint32_t seed_by_clock();
[[nodiscard]] std::string text_of(const std::string& path);

/// Runs `command` under NVIDIA's profiler ncu, which takes seconds. Counts its first launch of c63_motion after
/// cudaProfilerStart(). Returns the figures in percent of the GPU's peak, with a line for people in `text`. Returns only
/// `why_not` if ncu is missing, counts nothing or takes longer than half a minute.
[[nodiscard]] Json count_by_ncu(const std::string& command);

/// Returns the same from what ncu --csv wrote, and from its exit code.
[[nodiscard]] Json counters_of(const std::string& csv, int exit_code);

}  // namespace c63::bench
