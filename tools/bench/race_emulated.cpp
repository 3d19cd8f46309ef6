// c63bench me --emulate: judges users' kernels without a GPU, on one that the CPU emulates, and counts what they do to memory.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "bench/bench.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "common/errors.h"
#include "files/scratch_folder.h"
#include "race/emulated_gpu.h"

namespace c63::bench {
namespace {

/// Ends the judging: the emulated GPU has seen a fault.
struct FaultSeen {};

/// Returns what a kernel does to memory while it searches one small plane.
Json count_accesses(race::EmulatedGpu& gpu, const Options& o) {
  const race::RaceCase plane = race::timed_case(64, 48, o.range, o.seed);
  gpu.start_counting();
  static_cast<void>(gpu.search({&plane, 1}, {}));
  race::LineCounts global;
  race::LineCounts shared{.is_shared = true};
  const auto json_of = [&](const race::LineCounts& c) {
    const auto per_access = [&](std::int64_t n) { return c.accesses > 0 ? static_cast<double>(n) / static_cast<double>(c.accesses) : 0.0; };
    const char* const steps = c.is_shared ? "turns" : "sectors";
    return Json{{"accesses", c.accesses}, {"bytes", c.bytes}, {"lanes", per_access(c.lanes)}, {steps, per_access(c.steps)}, {std::string("least_") + steps, per_access(c.least)}};
  };
  std::vector<race::LineCounts> lines = gpu.counts();
  for (const race::LineCounts& line : lines) (line.is_shared ? shared : global).add(line);
  std::ranges::sort(lines, std::ranges::greater(), [](const race::LineCounts& c) { return c.steps - c.least; });
  Json counts = {{"size", fmt::format("{}x{}", plane.width, plane.height)}, {"blocks", plane.blocks()}, {"global", json_of(global)}, {"shared", json_of(shared)}, {"lines", Json::array()}};
  for (const race::LineCounts& line : lines) {
    Json row = {{"line", line.line}, {"memory", line.is_shared ? "shared" : "global"}};
    row.update(json_of(line));
    counts["lines"].push_back(row);
  }
  return counts;
}

/// Prints the counts, with the lines that could save most.
void print_counts(const Json& counts) {
  const double blocks = counts["blocks"].get<double>();
  const auto print = [&](const std::string& title, const Json& c, bool is_shared) {
    const std::string steps = is_shared ? "turns" : "sectors";
    std::printf("  %s: %.0f accesses of a warp and %.0f bytes a block; %.1f of 32 lanes take part; %.2f %s an access, at least %.2f\n", title.c_str(),
                c["accesses"].get<double>() / blocks, c["bytes"].get<double>() / blocks, c["lanes"].get<double>(), c[steps].get<double>(),
                is_shared ? "turns" : "sectors of 32 bytes", c["least_" + steps].get<double>());
  };
  for (const std::string memory : {"global", "shared"}) {
    if (counts[memory]["accesses"] > 0) print(memory + " memory", counts[memory], memory == "shared");
  }
  constexpr std::size_t kMostLines = 3;
  for (std::size_t i = 0; i < std::min(kMostLines, counts["lines"].size()); ++i) {
    const Json& c = counts["lines"][i];
    const bool is_shared = c["memory"] == "shared";
    const bool could_save = is_shared ? c["turns"] > c["least_turns"] : c["sectors"] > c["least_sectors"];
    if (could_save) print(fmt::format("line {}, {} memory", c["line"].get<int>(), c["memory"].get<std::string>()), c, is_shared);
  }
}

/// Judges one file in this process.
void run_file(Report& report, const Options& o) {
  const std::string& path = o.files.front();
  const auto tell = [&](const std::string& stage, const Json& so_far) {
    report.about()["stage"] = stage;
    report.about()["so_far"] = so_far;
    report.save();
  };
  tell("load and compile", Json::object({{"suspicions", Json::array()}}));
  if (!path.ends_with(".cu")) throw Error(ErrorKind::usage, "C63-KERNEL-FORM", "--emulate needs the source of a kernel: a .cu file", {.file = path});
  const ScratchFolder folder("", "c63-race");
  const race::BuiltSearch built = race::compile_emulated(path, folder.path());
  const std::string host = text_of(path).find("C63_MOTION_HOST") != std::string::npos ? race::compile_host_part(path, folder.path()).library : std::string();
  race::EmulatedGpu gpu(path, built.library, host, o.seed);
  const auto search = [&](std::span<const race::RaceCase> cases, const race::CaseLayout& layout) {
    std::vector<race::SearchedCase> found = gpu.search(cases, layout);
    if (!gpu.faults().empty()) throw FaultSeen();
    return found;
  };
  const auto judge_cases = [&](race::Judge& judge, std::uint32_t seed, const std::function<void(const std::string&)>& next) {
    constexpr std::array<std::size_t, 8> kCalls = {3, 3, 1, 1, 2, 5, 1, 8};
    constexpr int kPart = 3;  // of the width and height of the usual cases
    std::string cases;
    const auto stop = [&](const MotionSuspicion& seen) { judge.stopped(cases + ": " + seen.text, seen); };
    try {
      judge.judge(search, seed, o.range, kCalls, 1, [&](const std::string& what) { next(cases = what); }, kPart);
    } catch (const FaultSeen&) {
      std::ranges::for_each(gpu.faults(), stop);
    }
    if (!judge.verdict().is_right) std::ranges::for_each(gpu.doubts(), stop);
  };
  report.about()["entrants"] = {run_race(o, {{"name", std::filesystem::path(path).filename().string()}, {"file", path}, {"compiler", built.compiler}, {"compile_s", built.seconds}},
                                         {.judge = judge_cases,
                                          .time = {},
                                          .look =
                                              [&](Json& entrant) {
                                                entrant["counts"] = count_accesses(gpu, o);
                                                print_counts(entrant["counts"]);
                                              },
                                          .tell = tell})};
}

}  // namespace

void race_emulated(const Options& given) {
  Options options = given;
  if (options.files.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "--emulate needs --kernel");
  if (options.in_process && options.files.size() != 1) throw Error(ErrorKind::usage, "C63-USAGE", "--in-process takes one --kernel");
  options.seed_was_given = options.seed != 0;
  if (options.seed == 0 && options.in_process) options.seed = unknown_seed();
  Report report("me", options, {});
  report.about().update({{"device", "emulated"}, {"emulated", true}, {"range", options.range}});
  if (options.in_process) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    run_file(report, options);
  } else {
    std::string arguments = fmt::format("me --emulate --range {}", options.range);
    if (options.seed != 0) arguments += fmt::format(" --seed {}", options.seed);
    if (options.inexact) arguments += " --inexact";
    race_files(report, options, arguments + " --in-process --kernel=", {.seconds = options.limit_s});
  }
  report.finish();
  require_all_right(report.about());
}

}  // namespace c63::bench
