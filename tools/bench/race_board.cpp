// c63bench board: shows the results of several races as one ladder, in the terminal and as a page.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "io/output_file.h"

namespace c63::bench {
namespace {

using nlohmann::ordered_json;

/// A search, as one race has measured it.
struct Row {
  std::string device;  ///< the GPU, or "CPU"
  std::string task;    ///< size, content, and frames per launch
  std::string kernel;
  std::string file;  ///< file of the race's results
  std::string verdict;
  double us = 0;
  double share = 0;
  double more_sad = 0;
  std::string first;  ///< the first mistake that was found
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::vector<Row> rows_of(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    throw Error(ErrorKind::input, "C63-OPEN", "cannot be read", {.file = path});
  const ordered_json figures = ordered_json::parse(text_of(path), nullptr, false);
  if (!figures.is_object() || !figures.contains("entrants") || !figures.contains("results")) {
    throw Error(ErrorKind::input, "C63-BENCH-FIGURES", "is no result of c63bench cpu --search or me --kernel (--json)",
                {.file = path});
  }
  const std::string device = figures.value("device", std::string("CPU, one thread"));
  const std::string name = std::filesystem::path(path).stem().string();
  std::vector<Row> rows;
  for (const auto& result : figures["results"]) {
    Row row{.device = device,
            .task = {},
            .kernel = result.value("kernel", ""),
            .file = name,
            .verdict = "built in",
            .first = {}};
    row.task = fmt::format("{} {}", result.value("size", ""), result.value("content", ""));
    if (result.contains("jobs")) row.task += fmt::format(", {} a launch", result.value("jobs", 1));
    row.us = result["us_per_frame"].value("median", 0.0);
    row.share = result.value("share_of_ceiling", 0.0);
    for (const auto& entrant : figures["entrants"]) {
      if (entrant.value("name", "") != row.kernel) continue;
      row.verdict = entrant.value("verdict", "");
      row.more_sad = result.value("more_sad_percent", entrant.value("more_sad_percent", 0.0));
    }
    rows.push_back(std::move(row));
  }
  // Searches that were never timed, because they are wrong.
  for (const auto& entrant : figures["entrants"]) {
    if (entrant.value("verdict", "") == "right") continue;
    rows.push_back({.device = device,
                    .task = "not timed",
                    .kernel = entrant.value("name", ""),
                    .file = name,
                    .verdict = entrant.value("verdict", ""),
                    .first = entrant.value("first", "")});
  }
  return rows;
}

/// Sorts by device and task, the fastest search first. A built-in search is kept once, with its best time.
std::vector<Row> ladder_of(std::vector<Row> rows) {
  const auto order = [](const Row& r) { return std::tuple(r.device, r.task == "not timed", r.task, r.us); };
  std::ranges::stable_sort(rows, {}, order);
  std::vector<Row> ladder;
  for (Row& row : rows) {
    const bool known = row.verdict == "built in" && std::ranges::any_of(ladder, [&](const Row& other) {
                         return other.device == row.device && other.task == row.task && other.kernel == row.kernel &&
                                other.verdict == row.verdict;
                       });
    if (!known) ladder.push_back(std::move(row));
  }
  return ladder;
}

std::string text_of_ladder(const std::vector<Row>& rows) {
  std::string text;
  std::string group;
  for (const Row& row : rows) {
    if (const std::string here = row.device + ", " + row.task; here != group) {
      text += fmt::format("{}{}\n", group.empty() ? "" : "\n", here);
      group = here;
    }
    if (row.us > 0) {
      text += fmt::format("  {:>10.2f} us {:>6.1f} %  {:<24} {:<10}{}{}\n", row.us, 100 * row.share, row.kernel,
                          row.verdict, row.verdict == "built in" ? "" : row.file,
                          row.more_sad > 0 ? fmt::format(", SAD {:.2f} % more", row.more_sad) : std::string());
    } else {
      text += fmt::format("  {:<24} {:<10}{}: {}\n", row.kernel, row.verdict, row.file, row.first);
    }
  }
  return text;
}

std::string page_of(const std::vector<Row>& rows) {
  std::string html = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Board of motion searches</title>
<style>
:root { color-scheme: light dark; --line: #8884; --bar: #2a78d6; --own: #1a9c5b; --wrong: #c9362e; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: inline-block; height: .7em; background: var(--bar); border-radius: 2px; }
.right .bar { background: var(--own); }
.right td:first-child { font-weight: 600; }
.wrong, .stopped, .refused { color: var(--wrong); }
</style></head><body>
<h1>Board of motion searches</h1>
<p>The fastest first. Searches of your own are green and bold; built-in ones stand beside them.</p>
)html";
  std::string group;
  double slowest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (const std::string here = row.device + ", " + row.task; here != group) {
      if (!group.empty()) html += "</tbody></table>\n";
      group = here;
      slowest = 0;
      for (const Row& other : rows) {
        if (other.device + ", " + other.task == here) slowest = std::max(slowest, other.us);
      }
      html += fmt::format(
          "<h2>{}</h2>\n<table><thead><tr><th>search</th><th>result</th><th>µs a frame</th><th></th><th>of the "
          "ceiling</th><th>more SAD</th>"
          "</tr></thead><tbody>\n",
          escaped(here));
    }
    const std::string css = row.verdict == "built in" ? "built-in" : row.verdict;
    if (row.us > 0) {
      html += fmt::format(
          "<tr class=\"{}\"><td>{}</td><td>{}</td><td class=\"number\">{:.2f}</td><td><span class=\"bar\" "
          "style=\"width:{:.1f}rem\"></span></td>"
          "<td class=\"number\">{:.1f} %</td><td class=\"number\">{}</td></tr>\n",
          css, escaped(row.kernel), row.verdict == "built in" ? "built in" : escaped(row.file), row.us,
          slowest > 0 ? 12 * row.us / slowest : 0, 100 * row.share,
          row.more_sad > 0 ? fmt::format("{:.2f} %", row.more_sad) : std::string());
    } else {
      html += fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td><td colspan=\"4\">{}: {}</td></tr>\n", css,
                          escaped(row.kernel), escaped(row.file), escaped(row.verdict), escaped(row.first));
    }
  }
  if (!group.empty()) html += "</tbody></table>\n";
  return html + "</body></html>\n";
}

void run(const BoardOptions& options) {
  std::vector<Row> rows;
  for (const std::string& file : options.results) {
    for (Row& row : rows_of(file)) rows.push_back(std::move(row));
  }
  rows = ladder_of(std::move(rows));
  if (options.output != "-") tools::write_stdout(text_of_ladder(rows));
  if (!options.output.empty()) {
    OutputFile file(options.output, Durability::process);
    file.write(page_of(rows));
    file.commit();
  }
}

}  // namespace

tools::Subcommand board_bench() {
  return bench_command<BoardOptions>("board", "The results of several races as one ladder",
                                     [](const BoardOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
