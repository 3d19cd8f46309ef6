#include "bench/ladder_page.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "c63/error.h"
#include "common/json.h"
#include "common/text.h"
#include "common/values.h"
#include "io/output_file.h"

namespace c63::tools::ladder_files {
// The build makes these constants from the files in tools/bench/page.
extern const std::string_view html;
extern const std::string_view css;
extern const std::string_view js;
}  // namespace c63::tools::ladder_files

namespace c63::bench {
namespace {

using nlohmann::ordered_json;

Error wrong_file() {
  return {ErrorKind::input, "C63-BENCH-FILE",
          "this is not a result of c63bench me or cpu (--json), of tools/gpu_check or of tools/checks/cpu_check"};
}

/// Returns the CPU's exhaustive searches as rows. Their keys have the same names as those of a GPU's rows.
ordered_json cpu_rows(const ordered_json& bench) {
  constexpr double kSamples = 64;
  const std::string size = bench.value("size", "352x288");
  const auto [width, height] = tools::require_size("size", size);
  const double blocks = static_cast<double>(width / 8) * (height / 8);
  const double differences = bench.at("candidates_per_block").at("all").get<double>() * blocks * kSamples;
  ordered_json rows = ordered_json::array();
  for (const auto& kernel : bench.at("kernels")) {
    const std::string name = kernel.at("kernel");
    constexpr std::string_view kSearch = "search full-";
    if (!name.starts_with(kSearch)) continue;
    const auto& us = kernel.at("microseconds");
    ordered_json row = {{"kernel", name.substr(std::string_view("search ").size())},
                        {"level", kernel.at("level")},
                        {"size", size},
                        {"us_per_frame", us},
                        {"absdiff_per_s", differences / (us.at("median").get<double>() * 1e-6)}};
    // A search by elimination does not compute all differences, so its share of the rate of differences would mean
    // nothing.
    if (name.ends_with("brute") && kernel.contains("share_of_ceiling")) row["share_of_ceiling"] = kernel["share_of_ceiling"];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string ladder_page(const ordered_json& me, const ordered_json& cpu) {
  try {
    ordered_json data = me.contains("bench_me") ? me.at("bench_me") : me;
    if (data.at("subcommand") != "me") throw wrong_file();
    if (!data.contains("copy_bytes_per_s") && me.contains("bench_filters")) {
      data["copy_bytes_per_s"] = me.at("bench_filters").at("filter").at("copies").at(0).at("bytes_per_s");
    }
    if (!cpu.is_null()) {
      const bool checked = cpu.at("kernels").is_object();  // true for a result of tools/checks/cpu_check
      data["cpu"] = cpu_rows(checked ? cpu.at("kernels") : cpu);
      data["cpu_name"] = checked ? cpu.at("machine").at("cpu") : ordered_json("this machine's");
    }
    return tools::fill_in(tools::ladder_files::html, '@', '@', {{"TITLE", tools::escaped(data.at("device").get<std::string>())},
                                                         {"CSS", std::string(tools::ladder_files::css)},
                                                         {"JS", std::string(tools::ladder_files::js)},
                                                         {"DATA", tools::embedded(data)}});
  } catch (const ordered_json::exception&) {
    throw wrong_file();
  }
}

ordered_json read_figures(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::input, "C63-INPUT-OPEN", "cannot open for reading", {.file = path});
  ordered_json figures = tools::json_if_valid(std::string(std::istreambuf_iterator<char>(file), {}));
  if (figures.is_discarded()) throw Error(ErrorKind::input, "C63-BENCH-FILE", "this is not JSON", {.file = path});
  return figures;
}

void write_ladder_page(const std::string& path, const ordered_json& me, const std::string& cpu_path) {
  const ordered_json cpu = cpu_path.empty() ? ordered_json() : read_figures(cpu_path);
  OutputFile file(path);
  file.write(ladder_page(me, cpu));
  file.commit();
}

}  // namespace c63::bench
