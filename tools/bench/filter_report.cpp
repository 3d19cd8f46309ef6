#include "bench/filter_report.h"

#include <oneapi/tbb/parallel_for.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

namespace c63::bench {

void add_options(CLI::App& app, FilterBenchOptions& options) {
  app.add_option("--mb", options.megabytes, "megabytes of input for what is bound by memory")
      ->check(CLI::Range(1.0, 16384.0))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "measured runs")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--only", options.only, "utilities whose names contain one of these")->delimiter(',');
  app.add_option("--device", options.device, "GPU")->capture_default_str();
  app.add_flag("--cpu,!--no-cpu", options.cpu, "time the CPU");
  app.add_flag("--cuda,!--no-cuda", options.cuda, "time the GPU");
  app.add_option("--json", options.json, "write the figures as JSON (- for stdout)");
}

FilterTable::FilterTable(std::string name, const FilterBenchOptions& options)
    : name_(std::move(name)), options_(options) {
  std::printf("%-34s %-12s %-18s %11s %9s %9s %7s\n", "utility", "where", "variant", "ms", "x serial", "GB/s", "% copy");
}

bool FilterTable::wants(const std::string& utility) const {
  if (options_.only.empty()) return true;
  for (const auto& part : options_.only) {
    if (utility.find(part) != std::string::npos) return true;
  }
  return false;
}

void FilterTable::set_copy(const std::string& where, double bytes_per_s, double bytes) {
  std::erase_if(copy_, [&](const auto& entry) { return entry.first == where; });
  copy_.emplace_back(where, bytes_per_s);
  copies_.push_back({{"where", where}, {"bytes", bytes}, {"bytes_per_s", bytes_per_s}});
  std::printf("%-34s %-12s %-18s %11s %9s %9.1f %7.1f\n", "copy (read + write)", where.c_str(), "", "", "",
              bytes_per_s * 1e-9, 100.0);
}

void FilterTable::add(FilterRow row) {
  const double rate = row.bytes / (row.ms.median * 1e-3);
  if (row.share != 0) {
    row.share = 0;
    for (const auto& [where, copy] : copy_) {
      if (where == row.where) row.share = rate / copy;
    }
  }
  const auto or_blank = [](double value, const char* format) {
    char text[32] = "";
    if (value != 0) std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  std::printf("%-34s %-12s %-18s %11.5f %9s %9s %7s %s\n", row.utility.c_str(), row.where.c_str(), row.variant.c_str(),
              row.ms.median, or_blank(row.serial_ms / row.ms.median, "%.1f").c_str(),
              or_blank(rate * 1e-9, "%.1f").c_str(), or_blank(row.share * 100, "%.1f").c_str(), row.note.c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void FilterTable::finish() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const FilterRow& row : rows_) {
    nlohmann::json json = {{"utility", row.utility}, {"where", row.where}, {"variant", row.variant},
                           {"bytes", row.bytes},     {"ms", to_json(row.ms)}};
    if (row.serial_ms != 0) json["times_serial"] = row.serial_ms / row.ms.median;
    if (row.share != 0) json["share_of_copy"] = row.share;
    if (!row.note.empty()) json["note"] = row.note;
    rows.push_back(std::move(json));
  }
  write_json(options_.json, {{"bench", name_},
                             {"threads", std::thread::hardware_concurrency()},
                             {"repeats", options_.repeats},
                             {"copies", copies_},
                             {"rows", std::move(rows)}});
}

Sample time_on_cpu(int repeats, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return summarize(std::move(times));
}

double cpu_copy_rate(std::size_t bytes, int repeats) {
  const std::vector<std::uint8_t> from(bytes, 1);
  std::vector<std::uint8_t> to(bytes, 2);
  constexpr std::size_t kPieces = 64;
  const Sample ms = time_on_cpu(repeats, [&] {
    tbb::parallel_for(std::size_t{0}, kPieces, [&](std::size_t piece) {
      const std::size_t first = bytes * piece / kPieces;
      std::memcpy(to.data() + first, from.data() + first, bytes * (piece + 1) / kPieces - first);
    });
  });
  return 2.0 * static_cast<double>(bytes) / (ms.median * 1e-3);
}

}  // namespace c63::bench
