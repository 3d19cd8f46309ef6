// c63bench board: ranks the results of races and of c63bench me, the fastest first. It prints the list; with -o it also writes
// a page with the ladder.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "bench/bench.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "common/text.h"
#include "common/json.h"
#include "files/output_file.h"

namespace c63::tools::board_files {
// Made from tools/bench/page/board.html during the build.
extern const std::string_view html;
}  // namespace c63::tools::board_files

namespace c63::bench {
namespace {

constexpr const char* kBuiltIn = "built in";
constexpr const char* kNotRanked = "not ranked";

std::string verdict_of(const Json& entrant) {
  const std::string verdict = entrant.at("verdict").get<std::string>();
  const bool known = verdict == "right" || verdict == "wrong" || verdict == "stopped" || verdict == "refused" || verdict == "impossible";
  return known ? verdict : throw Error(ErrorKind::input, "C63-BENCH-FIGURES", "there is no verdict '" + verdict + "'");
}

/// Returns the searches that one race has measured, as the page shows them: `group` is the device, the size, the content and the
/// frames per launch; `file` the name of the race's results, without folder and extension; `first` the first mistake of a search
/// that was not timed.
std::vector<Json> rows_of(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) throw Error(ErrorKind::input, "C63-OPEN", "cannot be read", {.file = path});
  try {
    const Json figures = tools::json_if_valid(text_of(path));
    const std::string device = figures.value("device", "CPU, one thread") + ", ";
    const std::string file = std::filesystem::path(path).stem().string();
    const Json entrants = figures.value("entrants", Json::array());
    std::vector<Json> rows;
    for (const Json& result : figures.at("results")) {
      if (result.contains("not_measured")) continue;
      std::string group = device + result.value("size", "") + " " + result.value("content", "");
      if (result.contains("jobs")) group += fmt::format(", {} a launch", result["jobs"].get<int>());
      rows.push_back({{"group", group},
                      {"kernel", result.at("kernel").get<std::string>()},
                      {"file", file},
                      {"verdict", kBuiltIn},
                      {"us", result.at("us").at("median").get<double>()},
                      {"share", result.value("share_of_ceiling", 0.0)},
                      {"more_sad", result.value("more_sad_percent", 0.0)}});
    }
    for (const Json& entrant : entrants) {
      const std::string name = entrant.at("name").get<std::string>();
      const std::string verdict = verdict_of(entrant);
      const bool knew_seed = entrant.value("seed_was_given", false);
      const auto is_own = [&](const Json& row) { return row["kernel"] == name; };
      if (verdict == "right" && !knew_seed && std::ranges::any_of(rows, is_own)) {
        for (Json& row : rows) {
          if (!is_own(row)) continue;
          row["verdict"] = verdict;
          const std::string report = entrant.value("counters", Json::object()).value("report", "");
          if (!report.empty()) row["profile"] = (std::filesystem::path(path).parent_path() / std::filesystem::path(report).filename()).string();
        }
        continue;
      }
      std::erase_if(rows, is_own);
      rows.push_back({{"group", device + kNotRanked}, {"kernel", name}, {"file", file}, {"verdict", verdict}, {"us", 0.0},
                      {"first", verdict != "right"                  ? entrant.value("first", "")
                                : figures.value("emulated", false) ? "it was emulated, which takes no times"
                                                                   : "its seed was known before the race (--seed)"}});
    }
    return rows;
  } catch (const Json::exception&) {
    throw Error(ErrorKind::input, "C63-BENCH-FIGURES", "is not a result of c63bench cpu --search or me (--json)", {.file = path});
  }
}

/// Sorts by device and task, the fastest search first. A built-in search is kept once, with its best time.
Json ladder_of(std::vector<Json> rows) {
  std::ranges::stable_sort(rows, {}, [](const Json& r) { return std::tuple(r["group"].get<std::string>(), r["us"].get<double>()); });
  Json ladder = Json::array();
  for (Json& row : rows) {
    const bool known = row["verdict"] == kBuiltIn && std::ranges::any_of(ladder, [&](const Json& other) {
                         return other["group"] == row["group"] && other["kernel"] == row["kernel"] && other["verdict"] == kBuiltIn;
                       });
    if (!known) ladder.push_back(std::move(row));
  }
  return ladder;
}

std::string text_of_ladder(const Json& rows) {
  // Text of a file is shown on one line and without control characters.
  const auto text_in = [](const Json& row, const char* member) { return one_line(tools::valid_utf8(row[member].get<std::string>())); };
  std::string text;
  Json group;
  for (const Json& row : rows) {
    if (row["group"] != group) {
      text += fmt::format("{}{}\n", group.is_null() ? "" : "\n", text_in(row, "group"));
      group = row["group"];
    }
    const double more_sad = row.value("more_sad", 0.0);
    const std::string verdict = row["verdict"] == "right" && more_sad != 0 ? "inexact" : row["verdict"].get<std::string>();
    if (const double us = row["us"]; us > 0) {
      text += fmt::format("  {:>10.2f} us {:>6.1f} %  {:<24} {:<10}{}{}\n", us, 100 * row["share"].get<double>(), text_in(row, "kernel"),
                          verdict, verdict == kBuiltIn ? "" : text_in(row, "file"),
                          more_sad > 0 ? fmt::format(", SAD {:.2f} % more", more_sad) : std::string());
    } else {
      text += fmt::format("  {:<24} {:<10}{}: {}\n", text_in(row, "kernel"), verdict, text_in(row, "file"), text_in(row, "first"));
    }
  }
  return text;
}

}  // namespace

void make_board(const Options& options) {
  std::vector<Json> rows;
  for (const std::string& file : options.results) {
    for (Json& row : rows_of(file)) rows.push_back(std::move(row));
  }
  Json ladder = ladder_of(std::move(rows));
  if (options.output != "-") tools::write_stdout(text_of_ladder(ladder));
  if (options.output.empty()) return;
  const auto page_folder = std::filesystem::absolute(options.output).parent_path();
  for (Json& row : ladder) {
    if (row.contains("profile")) row["profile"] = "./" + std::filesystem::proximate(row["profile"].get<std::string>(), page_folder).string();
  }
  OutputFile file(options.output, Durability::process);
  file.write(tools::fill_in(tools::board_files::html, '@', '@', {{"DATA", tools::embedded(ladder)}}));
  file.commit();
}

}  // namespace c63::bench
