#include "bench/race_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "c63/error.h"
#include "common/errors.h"
#include "common/json.h"
#include "common/process.h"
#include "files/scratch_folder.h"

namespace c63::bench {
namespace {

std::string signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      return "crashes: it reads or writes memory that is not its own";
    case SIGFPE:
      return "crashes: a division by zero";
    case SIGILL:
      return "crashes: an instruction that this CPU does not have, or the end of a function without return";
    case SIGABRT:
      return "aborts: a failed check, or memory that was damaged";
    case SIGXFSZ:
      return "writes a file that is too large";
    case SIGXCPU:
    case SIGKILL:
      return "was killed: too much memory or time";
    default:
      return fmt::format("is ended by signal {} ({})", signal, ::strsignal(signal));
  }
}

Json race_json(const race::Verdict& v) {
  Json json = {{"verdict", name_of(v)},
               {"cases", v.cases},
               {"wrong_cases", v.wrong_cases},
               {"first", v.first},
               {"sad", v.totals.sad},
               {"exact_sad", v.totals.exact_sad},
               {"suspicions", Json::array()}};
  for (const MotionSuspicion& s : v.suspicions) json["suspicions"].push_back({{"id", s.id}, {"text", s.text}});
  return json;
}

/// Starts this program again to race one file. Returns what the process wrote, with the file's entrant.
Json race_in_own_process(const std::string& arguments, const std::string& file, const tools::ProcessLimits& limits) {
  const ScratchFolder folder("", "c63-race");
  const std::string json = folder.file("figures.json");
  const std::string out = folder.file("out");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::fflush(stdout);
  // A process that crashes cannot remove its temporary files. They are in this folder, which is removed here.
  const std::string command = "TMPDIR=" + tools::shell_quoted(folder.path()) + " exec " + tools::shell_quoted(program) +
                              " " + arguments + tools::shell_quoted(file) + " --json " + tools::shell_quoted(json);
  const tools::ProcessResult result = tools::run_process(command, {}, out, folder.path(), {}, limits);
  std::printf("\n%s", text_of(out).c_str());
  Json figures = Json::object();
  if (std::filesystem::exists(json)) figures = tools::json_if_valid(text_of(json));
  if (!figures.is_object()) figures = Json::object();  // an incomplete file
  if (figures["entrants"].empty()) figures["entrants"] = Json::array({Json::object()});
  Json& entrant = figures["entrants"][0];
  entrant["name"] = std::filesystem::path(file).filename().string();
  entrant["file"] = file;
  entrant["process_s"] = result.wall_s;
  const bool judged = entrant.contains("verdict");
  if (!judged && figures.contains("so_far")) entrant["suspicions"] = figures["so_far"]["suspicions"];
  race::SearchEnded end;
  end.exit_code = result.exit_code;
  end.timed_out = result.timed_out;
  if (result.timed_out || result.exit_code > 128 || (!judged && result.exit_code == 0)) {
    add_end(entrant, figures.value("stage", std::string("its start")), end, limits.seconds);
  } else if (!judged) {  // the file was refused, and its process has printed why
    entrant["verdict"] = "refused";
    entrant["first"] = result.error_output;
    entrant["exit_code"] = result.exit_code;
    std::fputs(result.error_output.c_str(), stderr);
  }
  std::fflush(stdout);
  return figures;
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint32_t unknown_seed() { return std::random_device{}() | 1; }

void add_end(Json& entrant, const std::string& stage, const race::SearchEnded& end, double limit_s) {
  // SIGKILL also ends a process that the system has no memory for. On a busy machine, the kernel counts CPU time for
  // the limit in whole ticks, which may be much more than the time that it reports.
  const bool used_up = end.exit_code == 128 + SIGXCPU || (end.exit_code == 128 + SIGKILL && end.cpu_s >= 0.5 * limit_s);
  MotionSuspicion cause = race::cause_of(end);
  std::string what = end.exit_code <= 128 ? "ends the process" : end.place.empty() ? signal_text(end.exit_code - 128) : one_line(end.place);
  if (end.timed_out || used_up) {
    cause = {"hangs", "a loop that does not end, or a barrier that not all threads reach", 1};
    what = fmt::format("hangs: no result after {:g} s{} (--limit)", limit_s, used_up ? " of CPU time" : "");
  }
  entrant["verdict"] = "stopped";
  entrant["first"] = stage + ": " + what;
  if (!entrant.contains("suspicions")) entrant["suspicions"] = Json::array();
  Json& suspicions = entrant["suspicions"];
  suspicions.insert(suspicions.begin(), Json::object({{"id", cause.id}, {"text", cause.text}}));
  std::printf("%s: STOPPED\n  %s\n  suspicion: %s [%s]\n", entrant["name"].get<std::string>().c_str(),
              entrant["first"].get<std::string>().c_str(), cause.text.c_str(), cause.id.c_str());
}

void add_once(Report& report, Json row) {
  const auto is_same = [&](const Json& other) {
    return std::ranges::all_of(std::array{"kernel", "size", "content", "jobs"},
                               [&](const char* what) { return row.value(what, Json()) == other.value(what, Json()); });
  };
  if (std::ranges::none_of(report.rows(), is_same)) report.rows().push_back(std::move(row));
}

void race_files(Report& report, const Options& options, const std::string& arguments,
                const tools::ProcessLimits& limits,
                const std::function<void(Json& entrant, const std::string& file)>& finish) {
  tools::ProcessLimits all_limits = limits;
  all_limits.file_bytes = kMostFileBytes;
  all_limits.files = kMostFiles;
  all_limits.ends_children = true;
  report.about()["entrants"] = Json::array();
  for (const std::string& file : options.files) {
    Json figures = race_in_own_process(arguments, file, all_limits);
    for (Json& row : figures["results"]) add_once(report, std::move(row));
    finish(figures["entrants"][0], file);
    report.about()["entrants"].push_back(figures["entrants"][0]);
    report.save();
  }
}

Json run_race(const Options& options, Json entrant, const Race& race) {
  race::Judge judge(options.inexact);
  std::string stage = "its start";
  const auto next = [&](const std::string& what) {
    stage = what;
    race.tell(stage, race_json(judge.verdict()));
  };
  entrant["seed"] = options.seed;
  entrant["seed_was_given"] = options.seed_was_given;
  try {
    race.judge(judge, options.seed, next);
    if (race.time && judge.verdict().is_right) {
      next("timed runs");
      race.time(judge);
      const race::Verdict timed = judge.verdict();
      const auto is_named = [](const MotionSuspicion& s) { return s.id == "replays" || s.id == "impossible"; };
      if (!timed.is_right && std::ranges::none_of(timed.suspicions, is_named)) {
        judge.stopped("timed runs", {"timed-runs-differ", "right alone, wrong when calls follow each other at once, with other planes each", 1});
      }
      next("test cases, repeated after the timed runs");
      race.judge(judge, options.seed + 1, next);
    }
  } catch (const race::SearchEnded& end) {
    entrant.update(race_json(judge.verdict()));
    add_end(entrant, stage, end, options.limit_s);
    return entrant;
  }
  const race::Verdict verdict = judge.verdict();
  std::printf("%s: %s (seed %u)\n", entrant["name"].get<std::string>().c_str(), to_string(verdict).c_str(), options.seed);
  entrant.update(race_json(verdict));
  if (verdict.is_right) race.look(entrant);
  return entrant;
}

void require_all_right(const Json& figures) {
  if (!figures.contains("entrants")) return;
  for (const auto& entrant : figures["entrants"]) {
    const std::string verdict = entrant.value("verdict", "");
    if (verdict == "right") continue;
    const std::string name = entrant.value("name", "");
    if (verdict == "refused")
      throw Error(tools::kind_of_exit(entrant.value("exit_code", 1), ErrorKind::internal), "C63-RACE-REFUSED", "was not raced, for the reason above",
                  {.file = name});
    throw Error(ErrorKind::comparison, "C63-RACE-WRONG", entrant.value("first", ""), {.file = name});
  }
}

}  // namespace c63::bench
