// c63bench cpu --search: times users' searches on the CPU together with the built-in ones.

#include "bench/race_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bench/candidates.h"
#include "bench/cpu_probe.h"
#include "bench/figures.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "common/process.h"
#include "cpu/plane_search.h"
#include "io/scratch_folder.h"
#include "race/compile_search.h"
#include "race/host_search.h"

namespace c63::bench {
namespace {

using nlohmann::ordered_json;
using race::SearchResults;

#if defined(__SANITIZE_ADDRESS__) || defined(C63_SANITIZED)
constexpr std::uint64_t kMostMemory = 0;  // no limit, because the address sanitizer reserves terabytes
#elif defined(__has_feature)
constexpr std::uint64_t kMostMemory = __has_feature(address_sanitizer) ? 0 : std::uint64_t{8} << 30;
#else
constexpr std::uint64_t kMostMemory = std::uint64_t{8} << 30;
#endif

/// Two planes for timing searches. Each has kPlaneGuard bytes on both sides, because built-in kernels read past the planes.
class TimedPlanes {
 public:
  TimedPlanes(int width, int height, std::uint32_t seed) : g_{width, height, width / 8, height / 8, 0} {
    g_.coded_samples = g_.samples();
    for (int i = 0; i < 2; ++i) {
      const std::vector<std::uint8_t> samples = race::moving_texture(width, height, i, seed);
      planes_[i].resize(samples.size() + 2 * cpu::kPlaneGuard);
      std::ranges::copy(samples, planes_[i].begin() + cpu::kPlaneGuard);
    }
  }
  [[nodiscard]] const PlaneGeometry& geometry() const { return g_; }
  [[nodiscard]] ConstPlaneView reference() const { return view(0); }
  [[nodiscard]] ConstPlaneView current() const { return view(1); }
  [[nodiscard]] std::size_t blocks() const { return static_cast<std::size_t>(g_.blocks()); }

 private:
  [[nodiscard]] ConstPlaneView view(int i) const {
    return {planes_[i].data() + cpu::kPlaneGuard, g_.width, g_.height, g_.width};
  }
  PlaneGeometry g_;
  std::vector<std::uint8_t> planes_[2];
};

/// A search with its times on the planes.
struct Entrant {
  std::string name;
  std::function<void(SearchResults&)> search;
  std::vector<double> seconds = {};
  SearchResults found = {};
};

Entrant built_in(const std::string& name, SearchMethod method, SimdLevel level, const TimedPlanes& planes, int range) {
  const cpu::Kernels& kernels = cpu::kernels(level);
  const PlaneGeometry g = planes.geometry();
  const auto search = std::make_shared<cpu::PlaneSearch>(cpu::make_block_searcher(method, kernels, g, range), kernels, g, 1, range);
  return {name, [&planes, g, search](SearchResults& results) {
            search->begin(planes.current(), planes.reference(), nullptr);
            search->prepare_rows(0, g.height);
            search->prepare();
            for (int row = 0; row < g.rows; ++row) search->search_mcu_row(row);
            std::copy_n(search->chosen(), planes.blocks(), results.vectors.begin());
            std::copy_n(search->sads(), planes.blocks(), results.sads.begin());
          }};
}

/// Returns the ceiling of one thread: absolute differences per second. It is 0 on a CPU without a probe for them.
double measured_ceiling() {
  std::vector<std::uint8_t> nothing(1 << 16);
  double best = 0;
  for (const CeilingProbe& probe : ceiling_probes(nothing)) {
    if (probe.limit != Limit::absolute_differences) continue;
    for (int i = 0; i < 5; ++i) {
      const auto start = std::chrono::steady_clock::now();
      probe.run();
      best = std::max(best,
                      probe.amount / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
  return best;
}

/// Returns three numbers of instructions of a library: all, those that sum absolute differences, and those with x86 vector
/// registers. Null if objdump fails or is not installed.
ordered_json instructions_of(const std::string& library, const ScratchFolder& folder) {
  const std::string out = folder.file("code");
  if (tools::run_process("objdump -d --no-show-raw-insn " + tools::shell_quoted(library), {}, out, folder.path(), {},
                         {.seconds = 20})
          .exit_code != 0)
    return nullptr;
  std::istringstream lines(text_of(out));
  int all = 0;
  int sums = 0;
  int vectors = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(":\t") == std::string::npos) continue;
    ++all;
    sums += line.find("psadbw") != std::string::npos || line.find("mpsadbw") != std::string::npos ||
                    line.find("dbpsadbw") != std::string::npos || line.find("uabal") != std::string::npos ||
                    line.find("uabd") != std::string::npos
                ? 1
                : 0;
    vectors += line.find("%xmm") != std::string::npos || line.find("%ymm") != std::string::npos ||
                       line.find("%zmm") != std::string::npos
                   ? 1
                   : 0;
  }
  return {{"all", all}, {"sums_of_differences", sums}, {"vector_instructions", vectors}};
}

std::string next_step(const ordered_json& code, double share) {
  if (share > 0.8) return "rule candidates out by sums: step 5 of docs/course.md, encoder/cpu/search_full.cpp";
  if (code.is_object() && code.value("sums_of_differences", 0) == 0) {
    return "PSADBW sums eight absolute differences in one instruction: _mm_sad_epu8 (step 0 of docs/course.md)";
  }
  return "more candidates an instruction, and the block's rows in registers: encoder/cpu/search_avx512.cpp";
}

/// Checks the search of one user's file and times it, in this process.
void race_here(const CpuBenchOptions& o) {
  const std::string& path = o.searches.front();
  const ScratchFolder folder("", "c63-race");
  ordered_json figures = {{"bench", "cpu"}, {"stage", "compile"}, {"entrants", ordered_json::array()}};
  const auto tell = [&](const std::string& what) {
    figures["stage"] = what;
    write_figures_so_far(o.json, figures);
  };
  const race::BuiltSearch built = race::compile_search(path, folder.path());
  const std::string name = std::filesystem::path(path).filename().string();
  if (!built.command.empty())
    std::printf("%s: %s (%s, %.2f s)\n", name.c_str(), built.command.c_str(), built.compiler.c_str(), built.seconds);
  if (!built.messages.empty()) std::printf("%s\n", built.messages.c_str());
  tell("load");
  if (!o.json.empty() && o.json != "-") race::catch_crashes(o.json + ".crash");
  const race::SearchLibrary library(built.library);
  ordered_json entrant = {
      {"name", name}, {"file", path}, {"compiler", built.compiler}, {"command", built.command}, {"seed", o.seed}};

  race::Judge judge(o.inexact);
  const race::HostSearch search = [&](const c63_motion_job& job) { library(job); };
  const auto next = [&](const std::string& what) {
    figures["so_far"] = race_json(judge.verdict());
    tell(what);
  };
  judge_on_host(judge, search, o.seed, o.range, next);
  if (judge.verdict().is_right) {
    tell("timed runs");
    const TimedPlanes planes(o.width / 8 * 8, o.height / 8 * 8, 1);
    const SimdLevel best = available_simd_levels().back();
    std::vector<Entrant> entrants;
    entrants.push_back({name, [&](SearchResults& results) {
                          const PlaneGeometry& g = planes.geometry();
                          library({planes.current().data, planes.reference().data, g.width, g.width, g.width, g.height,
                                   o.range, reinterpret_cast<c63_motion_vector*>(results.vectors.data()),
                                   results.sads.data()});
                        }});
    entrants.push_back(built_in("full-brute scalar", SearchMethod::full_brute, SimdLevel::scalar, planes, o.range));
    entrants.push_back(built_in("full-brute", SearchMethod::full_brute, best, planes, o.range));
    entrants.push_back(built_in("full-eliminate", SearchMethod::full_eliminate, best, planes, o.range));
    // The searches take turns, so that a temporary disturbance affects all of them alike.
    for (int round = 0; round <= o.rounds; ++round) {
      for (Entrant& e : entrants) {
        if (e.name == "full-brute scalar" && round > 2) continue;  // it takes long, and only shows the scale
        e.found = SearchResults::poisoned(planes.blocks(), race::kPoison);
        const auto start = std::chrono::steady_clock::now();
        e.search(e.found);
        if (round > 0)
          e.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
    }
    const double ceiling = measured_ceiling();
    const double candidates = count_candidates(planes.geometry().width, planes.geometry().height, o.range);
    const SearchResults& exact = entrants.back().found;
    double sad = 0;
    double exact_sad = 0;
    for (std::size_t i = 0; i < planes.blocks(); ++i) {
      sad += entrants.front().found.sads[i];
      exact_sad += exact.sads[i];
    }
    for (const Entrant& e : entrants) {
      const Sample us = summarize(e.seconds);
      const double per_second = candidates * 64 / us.median;
      figures["results"].push_back({{"kernel", e.name},
                                    {"size", fmt::format("{}x{}", planes.geometry().width, planes.geometry().height)},
                                    {"content", "natural"},
                                    {"us_per_frame", to_json({us.median * 1e6, us.low * 1e6, us.high * 1e6})},
                                    {"absdiff_per_s", per_second},
                                    {"share_of_ceiling", per_second / ceiling},
                                    {"equal", e.found == exact}});
    }
    entrant["more_sad_percent"] = exact_sad > 0 ? 100 * (sad / exact_sad - 1) : 0;
    entrant["share_of_ceiling"] = figures["results"][0]["share_of_ceiling"];
    tell("test cases, repeated after the timed runs");
    judge_on_host(judge, search, o.seed + 1, o.range, next);
    if (!o.inexact && entrants.front().found != exact) {
      judge.stopped("the timed runs give other vectors than exact search",
                    {"timed-runs-differ", "wrong when calls follow each other at once", 1});
    }
  }
  const race::Verdict verdict = judge.verdict();
  std::printf("%s: %s (seed %u)\n", name.c_str(), to_string(verdict).c_str(), o.seed);
  entrant.update(race_json(verdict));
  if (verdict.is_right) {
    entrant["instructions"] = instructions_of(built.library, folder);
    entrant["next_step"] = next_step(entrant["instructions"], entrant.value("share_of_ceiling", 0.0));
  }
  figures["entrants"].push_back(entrant);
  figures["stage"] = "done";
  write_figures(o.json, figures);
  std::fflush(stdout);
  require_all_right(figures);
}

std::string arguments_of(const CpuBenchOptions& o) {
  return fmt::format("cpu --width {} --height {} --range {} --rounds {} --seed {}{} --in-process --search ", o.width,
                     o.height, o.range, o.rounds, o.seed, o.inexact ? " --inexact" : "");
}

void print_table(const ordered_json& figures) {
  std::printf("\n%-22s %10s %21s %8s %10s\n", "search, one thread", "us/frame", "p10..p90", "ceiling", "more SAD");
  for (const auto& row : figures["results"]) {
    const auto& us = row["us_per_frame"];
    std::printf("%-22s %10.1f %9.1f..%10.1f %7.1f%%", row["kernel"].get<std::string>().c_str(),
                us["median"].get<double>(), us["p10"].get<double>(), us["p90"].get<double>(),
                100 * row["share_of_ceiling"].get<double>());
    for (const auto& entrant : figures["entrants"]) {
      if (entrant["name"] != row["kernel"]) continue;
      std::printf(" %8.2f %%", entrant.value("more_sad_percent", 0.0));
      const auto& code = entrant.value("instructions", ordered_json());
      if (code.is_object()) {
        std::printf("\n    %d of its %d instructions sum absolute differences\n    next: %s",
                    code.value("sums_of_differences", 0), code.value("all", 0), entrant.value("next_step", "").c_str());
      }
    }
    std::printf("\n");
  }
}

}  // namespace

void race_cpu_files(const CpuBenchOptions& given) {
  CpuBenchOptions options = given;
  if (options.seed == 0) options.seed = seed_by_clock();
  if (options.in_process) {
    if (options.searches.size() != 1) throw Error(ErrorKind::usage, "C63-USAGE", "--in-process takes one --search");
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    race_here(options);
    return;
  }
  ordered_json figures = {{"bench", "cpu"},
                          {"race", true},
                          {"seed", options.seed},
                          {"results", ordered_json::array()},
                          {"entrants", ordered_json::array()}};
  for (const std::string& file : options.searches) {
    const RacedFile raced =
        race_in_own_process(arguments_of(options), file,
                            {.seconds = 10 * options.limit_s, .cpu_seconds = options.limit_s, .memory = kMostMemory});
    for (const auto& row : raced.figures.value("results", ordered_json::array())) {
      const bool known =
          std::ranges::any_of(figures["results"], [&](const auto& other) { return other["kernel"] == row["kernel"]; });
      if (!known) figures["results"].push_back(row);  // built-in searches, timed for each file, are shown once
    }
    figures["entrants"].push_back(raced.entrant);
    write_figures_so_far(options.json, figures);
  }
  print_table(figures);
  write_figures(options.json, figures);
  require_all_right(figures);
}

}  // namespace c63::bench
