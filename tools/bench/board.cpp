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
constexpr const char* kNotTimed = "not timed";

/// A search, as one race has measured it.
struct Row {
  std::string device;  ///< the GPU, or "CPU, one thread"
  std::string task;    ///< size, content, and frames per launch
  std::string kernel;
  std::string file;  ///< name of the file with the race's results, without folder and extension
  std::string verdict;
  double us = 0;
  double share = 0;
  double more_sad = 0;
  std::string first = {};  ///< the first mistake that was found

  [[nodiscard]] std::string group() const { return device + ", " + task; }
};

std::string verdict_of(const Json& entrant) {
  const std::string verdict = entrant.at("verdict").get<std::string>();
  const bool known = verdict == "right" || verdict == "wrong" || verdict == "stopped" || verdict == "refused";
  return known ? verdict : throw Error(ErrorKind::input, "C63-BENCH-FIGURES", "there is no verdict '" + verdict + "'");
}

std::vector<Row> rows_of(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) throw Error(ErrorKind::input, "C63-OPEN", "cannot be read", {.file = path});
  try {
    const Json figures = tools::json_if_valid(text_of(path));
    const std::string device = figures.value("device", "CPU, one thread");
    const std::string file = std::filesystem::path(path).stem().string();
    const Json entrants = figures.value("entrants", Json::array());
    std::vector<Row> rows;
    for (const Json& result : figures.at("results")) {
      Row row{.device = device,
              .task = result.value("size", "") + " " + result.value("content", ""),
              .kernel = result.at("kernel").get<std::string>(),
              .file = file,
              .verdict = kBuiltIn,
              .us = result.at("us").at("median").get<double>(),
              .share = result.value("share_of_ceiling", 0.0),
              .more_sad = result.value("more_sad_percent", 0.0)};
      if (result.contains("jobs")) row.task += fmt::format(", {} a launch", result["jobs"].get<int>());
      for (const Json& entrant : entrants) {
        if (entrant.at("name").get<std::string>() == row.kernel) row.verdict = verdict_of(entrant);
      }
      rows.push_back(std::move(row));
    }
    for (const Json& entrant : entrants) {
      const std::string name = entrant.at("name").get<std::string>();
      if (std::ranges::any_of(rows, [&](const Row& row) { return row.kernel == name; })) continue;
      rows.push_back({.device = device, .task = kNotTimed, .kernel = name, .file = file, .verdict = verdict_of(entrant),
                      .first = entrant.value("first", "")});
    }
    return rows;
  } catch (const Json::exception&) {
    throw Error(ErrorKind::input, "C63-BENCH-FIGURES", "is not a result of c63bench cpu --search or me (--json)", {.file = path});
  }
}

/// Sorts by device and task, the fastest search first. A built-in search is kept once, with its best time.
std::vector<Row> ladder_of(std::vector<Row> rows) {
  std::ranges::stable_sort(rows, {}, [](const Row& r) { return std::tuple(r.device, r.task == kNotTimed, r.task, r.us); });
  std::vector<Row> ladder;
  for (Row& row : rows) {
    const bool known = row.verdict == kBuiltIn && std::ranges::any_of(ladder, [&](const Row& other) {
                         return other.group() == row.group() && other.kernel == row.kernel && other.verdict == kBuiltIn;
                       });
    if (!known) ladder.push_back(std::move(row));
  }
  return ladder;
}

/// Returns text of a file for the terminal, on one line and without control characters.
std::string plain(const std::string& text) { return one_line(tools::valid_utf8(text)); }

std::string text_of_ladder(const std::vector<Row>& rows) {
  std::string text;
  std::string group;
  for (const Row& row : rows) {
    if (row.group() != group) {
      text += fmt::format("{}{}\n", group.empty() ? "" : "\n", plain(row.group()));
      group = row.group();
    }
    if (row.us > 0) {
      text += fmt::format("  {:>10.2f} us {:>6.1f} %  {:<24} {:<10}{}{}\n", row.us, 100 * row.share, plain(row.kernel), row.verdict,
                          row.verdict == kBuiltIn ? "" : plain(row.file),
                          row.more_sad > 0 ? fmt::format(", SAD {:.2f} % more", row.more_sad) : std::string());
    } else {
      text += fmt::format("  {:<24} {:<10}{}: {}\n", plain(row.kernel), row.verdict, plain(row.file), plain(row.first));
    }
  }
  return text;
}

}  // namespace

void make_board(const Options& options) {
  std::vector<Row> rows;
  for (const std::string& file : options.results) {
    for (Row& row : rows_of(file)) rows.push_back(std::move(row));
  }
  rows = ladder_of(std::move(rows));
  if (options.output != "-") tools::write_stdout(text_of_ladder(rows));
  if (options.output.empty()) return;
  Json data = Json::array();
  for (const Row& row : rows) {
    data.push_back({{"group", row.group()}, {"kernel", row.kernel}, {"file", row.file}, {"verdict", row.verdict}, {"us", row.us},
                    {"share", row.share}, {"more_sad", row.more_sad}, {"first", row.first}});
  }
  OutputFile file(options.output, Durability::process);
  file.write(tools::fill_in(tools::board_files::html, '@', '@', {{"DATA", tools::embedded(data)}}));
  file.commit();
}

}  // namespace c63::bench
