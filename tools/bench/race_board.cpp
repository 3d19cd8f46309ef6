// c63bench board: ranks the results of several races, the fastest first. It prints the list; with -o it also writes a page.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "common/json.h"
#include "io/output_file.h"

namespace c63::bench {
namespace {

using nlohmann::ordered_json;

/// A search, as one race has measured it.
struct Row {
  std::string device;  ///< the GPU, or "CPU"
  std::string task;    ///< size, content, and frames per launch
  std::string kernel;
  std::string file;  ///< name of the file with the race's results, without folder and extension
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
  const ordered_json figures = tools::json_if_valid(text_of(path));
  if (!figures.is_object() || !figures.contains("entrants") || !figures.contains("results")) {
    throw Error(ErrorKind::input, "C63-BENCH-FIGURES",
                "is not a result of c63bench cpu --search or me --kernel (--json)", {.file = path});
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
  // Searches that are wrong, crashed or were refused. They get a row with their first mistake, without times.
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
:root { color-scheme: light; --paper: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --bar: #0b63c5; --own: #14713d; --wrong: #b42318; }
:root[data-theme=dark] { color-scheme: dark; --paper: #14171c; --ink: #e6e9ee; --soft: #9aa4b2; --line: #333b46; --bar: #6aa9f4; --own: #63c98d; --wrong: #ff8a80; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; background: var(--paper); color: var(--ink); }
header { display: flex; justify-content: space-between; align-items: start; gap: 1rem; }
h1 { font-size: 1.35rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.4rem 0 .2rem; overflow-wrap: anywhere; }
button { font: inherit; color: inherit; min-width: 2.4rem; min-height: 2.4rem; }
.soft, th { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: inline-block; height: .7em; background: var(--bar); border-radius: 2px; }
.right .bar { background: var(--own); }
.right td:first-child { font-weight: 600; color: var(--own); }
.wrong, .stopped, .refused { color: var(--wrong); }
</style></head><body>
<header><h1>Board of motion searches</h1><button id="theme" type="button" aria-label="Switch between light and dark">◐</button></header>
<p class="soft">The fastest come first. Searches of your own are green and bold, the others are built in.</p>
)html";
  std::string group;
  double slowest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (const std::string here = row.device + ", " + row.task; here != group) {
      if (!group.empty()) html += "</tbody></table></div>\n";
      group = here;
      slowest = 0;
      for (const Row& other : rows) {
        if (other.device + ", " + other.task == here) slowest = std::max(slowest, other.us);
      }
      html += fmt::format(
          "<h2>{}</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>search</th><th>result</th><th>µs a frame</th><th></th><th>of the "
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
  if (!group.empty()) html += "</tbody></table></div>\n";
  return html + R"html(<script>
"use strict";
const root = document.documentElement;
root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });
</script></body></html>
)html";
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
  return bench_command<BoardOptions>("board", "Rank the results of several races in one list",
                                     [](const BoardOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
