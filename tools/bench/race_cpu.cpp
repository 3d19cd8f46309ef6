// c63bench cpu --search: times users' searches on the CPU together with the built-in ones.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

#include "bench/bench.h"
#include "bench/cpu_probe.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "common/process.h"
#include "cpu/plane_search.h"
#include "files/scratch_folder.h"
#include "race/host_search.h"

namespace c63::bench {
namespace {

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

/// A search that is timed on the planes, and the results of its last run.
struct Entrant {
  std::string name;
  std::function<void(SearchResults&)> search;
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
    if (probe.limit == Limit::absolute_differences) best = std::max(best, measure(timed(probe.run), 5).rate(probe.amount).high);
  }
  return best;
}

/// Returns three numbers of instructions of a library: all, those that sum absolute differences, and those with x86 vector
/// registers. Null if objdump fails or is not installed.
Json instructions_of(const std::string& library, const ScratchFolder& folder) {
  const std::string out = folder.file("code");
  if (tools::run_process("objdump -d --no-show-raw-insn " + tools::shell_quoted(library), {}, out, folder.path(), {},
                         {.seconds = 20})
          .exit_code != 0)
    return nullptr;
  std::istringstream lines(text_of(out));
  const auto has_one_of = [](const std::string& line, std::initializer_list<const char*> words) {
    return std::ranges::any_of(words, [&](const char* word) { return line.find(word) != std::string::npos; });
  };
  int all = 0;
  int sums = 0;
  int vectors = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(":\t") == std::string::npos) continue;
    ++all;
    sums += has_one_of(line, {"sadbw", "uabal", "uabd"}) ? 1 : 0;
    vectors += has_one_of(line, {"%xmm", "%ymm", "%zmm"}) ? 1 : 0;
  }
  return {{"all", all}, {"sums_of_differences", sums}, {"vector_instructions", vectors}};
}

std::string next_step(const Json& code, double share) {
  if (share > 0.8) return "rule candidates out by sums: step 5 of docs/course.md, encoder/cpu/search_full.cpp";
  if (code.is_object() && code.value("sums_of_differences", 0) == 0) {
    return "PSADBW sums eight absolute differences in one instruction: _mm_sad_epu8 (step 0 of docs/course.md)";
  }
  return "more candidates an instruction, and the block's rows in registers: encoder/cpu/kernels_avx512.cpp";
}

std::vector<Column> columns() {
  return {{"kernel", "search, one thread", -22}, {"us/median", "us/frame", 10, 1}, {"us/p10", "10 %", 10, 1}, {"us/p90", "90 %", 10, 1},
          {"share_of_ceiling", "ceiling", 8, 1, 100, " %"}, {"more_sad_percent", "more SAD", 10, 2, 1, " %"}};
}

/// Times the user's search together with the built-in ones, and adds their rows. Returns whether it found what exact search
/// finds.
bool add_timed_runs(Report& report, const Options& o, const std::string& name, const race::SearchLibrary& library) {
  const TimedPlanes planes(o.width / 8 * 8, o.height / 8 * 8, 1);
  const PlaneGeometry& g = planes.geometry();
  const SimdLevel best = available_simd_levels().back();
  std::vector<Entrant> entrants = {{name, [&](SearchResults& results) {
                                      library({planes.current().data, planes.reference().data, g.width, g.width, g.width, g.height, o.range,
                                               reinterpret_cast<c63_motion_vector*>(results.vectors.data()), results.sads.data()});
                                    }},
                                   built_in("full-brute scalar", SearchMethod::full_brute, SimdLevel::scalar, planes, o.range),
                                   built_in("full-brute", SearchMethod::full_brute, best, planes, o.range),
                                   built_in("full-eliminate", SearchMethod::full_eliminate, best, planes, o.range)};
  std::vector<Case> cases;
  for (Entrant& e : entrants) {
    cases.push_back({.labels = {},
                     .run =
                         [&e, &planes] {
                           e.found = SearchResults::poisoned(planes.blocks(), race::kPoison);
                           return timed([&e] { e.search(e.found); })();
                         },
                     .most_rounds = e.name == "full-brute scalar" ? 2 : INT_MAX});  // it takes long, and only shows the scale
  }
  const std::vector<Sample> seconds = measure(cases, o.repeats);
  const double ceiling = measured_ceiling();
  const double differences = count_candidates(g.width, g.height, o.range) * 64;
  const SearchResults& exact = entrants.back().found;
  double sad = 0;
  double exact_sad = 0;
  for (std::size_t i = 0; i < planes.blocks(); ++i) {
    sad += entrants.front().found.sads[i];
    exact_sad += exact.sads[i];
  }
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    Json row = {{"kernel", entrants[i].name},
                {"size", fmt::format("{}x{}", g.width, g.height)},
                {"content", "natural"},
                {"us", seconds[i].times(1e6)},
                {"absdiff_per_s", differences / seconds[i].median},
                {"equal", entrants[i].found == exact}};
    if (ceiling > 0) row["share_of_ceiling"] = differences / seconds[i].median / ceiling;
    if (i == 0) row["more_sad_percent"] = exact_sad > 0 ? 100 * (sad / exact_sad - 1) : 0;
    report.rows().push_back(std::move(row));
  }
  return entrants.front().found == exact;
}

/// Checks the search of one user's file and times it, in this process.
void race_here(const Options& o) {
  const std::string& path = o.files.front();
  const ScratchFolder folder("", "c63-race");
  Report report("cpu", o, columns());
  begin_stage(report, "compile");
  const race::BuiltSearch built = race::compile_search(path, folder.path());
  const std::string name = std::filesystem::path(path).filename().string();
  if (!built.command.empty())
    std::printf("%s: %s (%s, %.2f s)\n", name.c_str(), built.command.c_str(), built.compiler.c_str(), built.seconds);
  if (!built.messages.empty()) std::printf("%s\n", built.messages.c_str());
  begin_stage(report, "load");
  if (!o.json.empty() && o.json != "-") race::catch_crashes(o.json + ".crash");
  const race::SearchLibrary library(built.library);
  const race::HostSearch search = [&](const c63_motion_job& job) { library(job); };
  run_race(report, o, {{"name", name}, {"file", path}, {"compiler", built.compiler}, {"command", built.command}},
           {.judge = [&](race::Judge& judge, std::uint32_t seed, const auto& next) { judge_on_host(judge, search, seed, o.range, next); },
            .time = [&] { return add_timed_runs(report, o, name, library); },
            .look =
                [&](Json& entrant) {
                  const Json& row = report.rows().at(0);
                  entrant["instructions"] = instructions_of(built.library, folder);
                  entrant["more_sad_percent"] = row.at("more_sad_percent");
                  entrant["next_step"] = next_step(entrant["instructions"], row.value("share_of_ceiling", 0.0));
                },
            .why_timed_runs_differ = "wrong when calls follow each other at once"});
  report.finish();
  std::fflush(stdout);
  require_all_right(report.about());
}

std::string arguments_of(const Options& o) {
  return fmt::format("cpu --width {} --height {} --range {} --rounds {} --seed {}{} --in-process --search=", o.width,
                     o.height, o.range, o.repeats, o.seed, o.inexact ? " --inexact" : "");
}

}  // namespace

void race_cpu_files(const Options& given) {
  Options options = given;
  if (options.seed == 0) options.seed = seed_by_clock();
  if (options.in_process) {
    if (options.files.size() != 1) throw Error(ErrorKind::usage, "C63-USAGE", "--in-process takes one --search");
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    race_here(options);
    return;
  }
  Report report("cpu", options, columns());
  report.about()["seed"] = options.seed;
  race_files(report, options, arguments_of(options),
             {.seconds = 10 * options.limit_s, .cpu_seconds = options.limit_s, .memory = kMostMemory});
  std::puts("");
  report.print_titles();
  for (const Json& row : report.rows()) {
    report.print(row);
    for (const Json& entrant : report.about()["entrants"]) {
      if (entrant["name"] != row["kernel"] || !entrant.contains("next_step")) continue;
      if (const Json& code = entrant["instructions"]; code.is_object()) {
        std::printf("    %d of its %d instructions sum absolute differences\n", code.value("sums_of_differences", 0), code.value("all", 0));
      }
      std::printf("    next: %s\n", entrant["next_step"].get<std::string>().c_str());
    }
  }
  report.finish();
  require_all_right(report.about());
}

}  // namespace c63::bench
