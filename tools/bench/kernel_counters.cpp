#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "bench/race_files.h"
#include "common/process.h"
#include "files/scratch_folder.h"

namespace c63::bench {
namespace {

struct Counter {
  std::string_view metric;  ///< ncu's name
  std::string_view key;
  std::string_view text;
};
constexpr std::array kCounters = {
    Counter{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm_percent", "multiprocessors"},
    Counter{"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "alu_percent", "ALU"},
    Counter{"smsp__issue_active.avg.pct_of_peak_sustained_active", "issue_percent", "issue slots"},
    Counter{"l1tex__throughput.avg.pct_of_peak_sustained_active", "l1_percent", "L1 and shared memory"},
    Counter{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "memory_percent", "memory"},
};

constexpr double kMostSeconds = 30;

}  // namespace

Json counters_of(const std::string& csv, int exit_code) {
  if (csv.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return {{"why_not",
             "ncu may not read the GPU's counters (ERR_NVGPUCTRPERM): the driver allows it only to administrators"}};
  }
  Json counters = Json::object();
  std::string text;
  for (const Counter& counter : kCounters) {
    const std::string start = fmt::format("\"{}\",\"%\",\"", counter.metric);  // a row ends with metric, unit and value
    const std::size_t at = csv.find(start);
    if (at == std::string::npos) continue;
    const double percent = std::strtod(csv.c_str() + at + start.size(), nullptr);
    counters[std::string(counter.key)] = percent;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", counter.text, percent);
  }
  if (counters.empty()) return {{"why_not", fmt::format("ncu counts nothing (exit code {})", exit_code)}};
  counters["text"] = text + " of the peak";
  return counters;
}

Json count_by_ncu(const std::string& command, const std::string& report) {
  const ScratchFolder folder("", "c63-race");
  if (tools::run_process("command -v ncu", {}, {}, folder.path()).exit_code != 0) return {{"why_not", "ncu is not installed"}};
  std::string metrics;
  for (const Counter& counter : kCounters) metrics += (metrics.empty() ? "" : ",") + std::string(counter.metric);
  const std::string csv = folder.file("counters.csv");
  const std::string kept = " --page details -f -o " + tools::shell_quoted(report) + " ";  // without --page, ncu prints nothing if it keeps a report
  const tools::ProcessResult result =
      tools::run_process("exec ncu --csv --profile-from-start off --kill yes -k c63_motion -c 1 --set full --metrics " + metrics + kept + command, {}, csv,
                         folder.path(), {}, {.seconds = kMostSeconds});
  Json counters = {{"why_not", "ncu takes longer than half a minute"}};
  if (!result.timed_out) counters = counters_of(text_of(csv) + result.error_output, result.exit_code);
  if (std::filesystem::is_regular_file(report)) counters["report"] = std::filesystem::path(report).filename().string();
  return counters;
}

}  // namespace c63::bench
