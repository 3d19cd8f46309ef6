// c63bench cpu --search: times users' searches on the CPU together with the built-in ones.

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>

#include "bench/bench.h"
#include "bench/cpu_probe.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "common/errors.h"
#include "common/process.h"
#include "cpu/plane_search.h"
#include "files/scratch_folder.h"
#include "race/host_search.h"
#include "race/search_process.h"

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

/// The planes of a round, as built-in searches need them: with kPlaneGuard bytes on both sides, because their kernels read past
/// the planes.
class GuardedPlanes {
 public:
  explicit GuardedPlanes(const race::RaceCase& c) : geometry_{c.width, c.height, c.width / 8, c.height / 8, 0} {
    geometry_.coded_samples = geometry_.samples();
    for (const auto& [samples, plane] : {std::pair(&c.current, &current_), std::pair(&c.reference, &reference_)}) {
      plane->resize(samples->size() + 2 * cpu::kPlaneGuard);
      std::ranges::copy(*samples, plane->begin() + cpu::kPlaneGuard);
    }
  }
  /// Returns the seconds that a built-in search takes.
  double search(SearchMethod method, SimdLevel level, int range, SearchResults& results) const {
    const cpu::Kernels& kernels = cpu::kernels(level);
    cpu::PlaneSearch search(cpu::make_block_searcher(method, kernels, geometry_, range), kernels, geometry_, 1, range);
    const auto blocks = static_cast<std::size_t>(geometry_.blocks());
    results = SearchResults::poisoned(blocks, race::kPoison);
    return timed([&] {
      search.begin(view(current_), view(reference_), nullptr);
      search.prepare_rows(0, geometry_.height);
      search.prepare();
      for (int row = 0; row < geometry_.rows; ++row) search.search_mcu_row(row);
      std::copy_n(search.chosen(), blocks, results.vectors.begin());
      std::copy_n(search.sads(), blocks, results.sads.begin());
    })();
  }

 private:
  [[nodiscard]] ConstPlaneView view(const std::vector<std::uint8_t>& plane) const {
    return {plane.data() + cpu::kPlaneGuard, geometry_.width, geometry_.height, geometry_.width};
  }
  PlaneGeometry geometry_;
  std::vector<std::uint8_t> current_;
  std::vector<std::uint8_t> reference_;
};

/// Returns a ceiling of one thread, in units per second. It is 0 on a CPU without a probe for it.
double measured_ceiling(Limit limit) {
  std::vector<std::uint8_t> samples(1 << 14);  // in the first cache
  double best = 0;
  for (const CeilingProbe& probe : ceiling_probes(samples)) {
    if (probe.limit == limit) best = std::max(best, measure(timed(probe.run), 5).rate(probe.amount).high);
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
          {"share_of_ceiling", "ceiling", 8, 1, 100, " %"}, {"more_sad_percent", "more SAD", 10, 2, 1, " %"}, {"note", "", -1}};
}

/// Times the user's search together with the built-in ones, adds their rows, and judges what it found. Returns its row.
Json add_timed_runs(Report& report, const Options& o, const std::string& name, race::SearchProcess& process, race::Judge& judge) {
  const int width = o.width / 8 * 8;
  const int height = o.height / 8 * 8;
  const SimdLevel best = available_simd_levels().back();
  struct BuiltIn {
    const char* name;
    SearchMethod method;
    SimdLevel level;
    int most_rounds;
    SearchResults found = {};
  };
  std::vector<BuiltIn> built_in = {{"full-brute scalar", SearchMethod::full_brute, SimdLevel::scalar, 2},  // it takes long, and only shows the scale
                                   {"full-brute", SearchMethod::full_brute, best, INT_MAX},
                                   {"full-eliminate", SearchMethod::full_eliminate, best, INT_MAX}};
  const double candidates = count_candidates(width, height, o.range);
  int round = 0;
  std::uint32_t seed = 0;
  std::optional<race::RaceCase> planes;
  std::optional<GuardedPlanes> guarded;
  SearchResults found;
  double fastest = INFINITY;
  double wall_s = 0;
  double cpu_s = 0;
  const auto layout = [&] { return race::CaseLayout{.at_end = seed % 2 == 0, .place = seed | 1}; };
  /// The time of a round's planes for planes of the asked size.
  const auto scaled = [&](double seconds) { return seconds * candidates / std::max(1.0, count_candidates(planes->width, planes->height, o.range)); };
  std::vector<Case> cases = {{.labels = {}, .run = [&] {
                                seed = seed_of_round(o.seed, round++);
                                planes = race::timed_case(width, height, o.range, seed);
                                guarded.emplace(*planes);
                                const race::SearchedCase searched = process.search(*planes, layout());
                                judge.check(*planes, searched);
                                found = searched.results;
                                fastest = std::min(fastest, searched.seconds);
                                wall_s += searched.seconds;
                                cpu_s += searched.cpu_seconds;
                                return scaled(searched.seconds);
                              }}};
  for (BuiltIn& b : built_in) {
    cases.push_back({.labels = {}, .run = [&] { return scaled(guarded->search(b.method, b.level, o.range, b.found)); }, .most_rounds = b.most_rounds});
  }
  std::vector<Sample> seconds = measure(cases, o.repeats);
  // Work in threads counts as if one thread had done all of it. Some systems count CPU time in steps of 10 ms.
  const bool has_threads = cpu_s > 1.2 * wall_s + 20e-3;
  if (has_threads) seconds[0] = seconds[0].times(cpu_s / wall_s);

  const SearchResults found_in_turns = found;  // in the same planes as the built-in searches
  double again = INFINITY;
  for (int i = 0; i < 3; ++i) {  // in turns, because other programs disturb both
    cases.front().run();
    again = std::min(again, process.search(*planes, layout()).seconds);
  }
  judge.check_times({.median = seconds[0].median,
                     .fastest = fastest,
                     .again = again,
                     .read = (2.0 * width * height) / measured_ceiling(Limit::loads),
                     .shortest = 100e-6});
  const double ceiling = measured_ceiling(Limit::absolute_differences);
  const SearchResults& exact = built_in.back().found;
  const auto sum = [](const SearchResults& results) { return std::accumulate(results.sads.begin(), results.sads.end(), 0.0); };
  Json own;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double differences = candidates * 64 / seconds[i].median;
    Json row = {{"kernel", i == 0 ? name : built_in[i - 1].name},
                {"size", fmt::format("{}x{}", width, height)},
                {"content", "natural"},
                {"us", seconds[i].times(1e6)},
                {"absdiff_per_s", differences},
                {"equal", i == 0 ? found_in_turns == exact : built_in[i - 1].found == exact}};
    if (ceiling > 0) {
      row["share_of_ceiling"] = differences / ceiling;
      if (differences > ceiling) row["note"] = "skips candidates";
    }
    if (i == 0 && has_threads) row["note"] = "CPU time of all threads";
    if (i == 0) row["more_sad_percent"] = sum(exact) > 0 ? 100 * (sum(found_in_turns) / sum(exact) - 1) : 0;
    if (i == 0) own = row;
    add_once(report, std::move(row));
  }
  return own;
}

/// Throws Error if a library that was loaded before this program, as by LD_PRELOAD, takes the place of the system's clock.
void refuse_other_clock() {
  Dl_info clock{};
  Dl_info system{};
  Dl_info program{};
  ::dladdr(::dlsym(RTLD_DEFAULT, "clock_gettime"), &clock);
  ::dladdr(::dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &system);
  ::dladdr(reinterpret_cast<void*>(&refuse_other_clock), &program);
  if (clock.dli_fbase != system.dli_fbase && clock.dli_fbase != program.dli_fbase) {
    throw Error(ErrorKind::usage, "C63-RACE-CLOCK", std::string("a race needs the system's clock, not that of ") + clock.dli_fname);
  }
}

/// Checks the search of one user's file and times it. Returns its entrant.
Json race_file(Report& report, const Options& o, const std::string& path) {
  const ScratchFolder folder("", "c63-race");
  const std::string name = std::filesystem::path(path).filename().string();
  Json entrant = {{"name", name}, {"file", path}};
  const std::string before = o.json.empty() || o.json == "-" ? "" : text_of(o.json);
  try {
    const race::BuiltSearch built = race::compile_search(path, folder.path());
    if (!built.command.empty())
      std::printf("%s: %s (%s, %.2f s)\n", name.c_str(), built.command.c_str(), built.compiler.c_str(), built.seconds);
    if (!built.messages.empty()) std::printf("%s\n", built.messages.c_str());
    entrant.update({{"compiler", built.compiler}, {"command", built.command}});
    const auto open = [&]() -> race::HostSearch {
      const auto library = std::make_shared<race::SearchLibrary>(built.library);
      library->refuse_clocks();
      return [library](const c63_motion_job& job) { (*library)(job); };
    };
    const auto starts = [&] {
      ::dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output may hold the results
      ::setenv("TMPDIR", folder.path().c_str(), 1);
    };
    race::SearchProcess process(open, {.most_samples = (static_cast<std::size_t>(o.width) + 8) * (static_cast<std::size_t>(o.height) + 8) + (1 << 18),
                                       .seconds = 10 * o.limit_s,
                                       .cpu_seconds = o.limit_s,
                                       .memory = kMostMemory,
                                       .file_bytes = kMostFileBytes,
                                       .files = kMostFiles,
                                       .in_process = o.in_process,
                                       .starts = starts});
    Options seeded = o;
    if (seeded.seed == 0) seeded.seed = unknown_seed();  // after the start of the process, so its memory does not hold it
    Json row;
    entrant = run_race(seeded, std::move(entrant),
                       {.judge = [&](race::Judge& judge, std::uint32_t seed, const auto& next) { process.judge(judge, seed, o.range, next); },
                        .time = [&](race::Judge& judge) { row = add_timed_runs(report, seeded, name, process, judge); },
                        .look =
                            [&](Json& right) {
                              right["instructions"] = instructions_of(built.library, folder);
                              right["more_sad_percent"] = row.at("more_sad_percent");
                              right["next_step"] = next_step(right["instructions"], row.value("share_of_ceiling", 0.0));
                            }});
  } catch (const Error& error) {
    const std::string line = tools::error_line(error.at({.file = path}));
    std::fprintf(stderr, "c63bench: %s\n", line.c_str());
    entrant.update({{"verdict", "refused"}, {"first", line}, {"exit_code", tools::exit_code(error.kind())}, {"suspicions", Json::array()}});
  }
  tools::end_orphans();
  if (!o.json.empty() && o.json != "-" && text_of(o.json) != before) {
    entrant.update({{"verdict", "wrong"}, {"first", "the file of results has changed during the race"}});
    entrant["suspicions"] = {{{"id", "forges-results"}, {"text", "it writes to the race's file of results"}}};
    std::printf("%s: WRONG: it writes to the race's file of results [forges-results]\n", name.c_str());
  }
  return entrant;
}

}  // namespace

void race_cpu_files(const Options& given) {
  Options options = given;
  options.seed_was_given = options.seed != 0;
  if (options.in_process && options.files.size() != 1) throw Error(ErrorKind::usage, "C63-USAGE", "--in-process takes one --search");
  refuse_other_clock();
  tools::adopt_orphans();
  Report report("cpu", options, columns());
  Json entrants = Json::array();
  for (const std::string& file : options.files) entrants.push_back(race_file(report, options, file));
  report.about()["entrants"] = entrants;
  if (!report.rows().empty()) {  // a search that is wrong is not timed
    std::puts("");
    report.print_titles();
  }
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
