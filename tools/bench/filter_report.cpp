#include "bench/filter_report.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "bench/bench_command.h"

namespace c63::bench {

FilterTable::FilterTable(std::string name, const FilterBenchOptions& options)
    : name_(std::move(name)), options_(options) {
  std::printf("%-34s %-12s %-18s %11s %9s %9s %7s\n", "utility", "where", "variant", "ms", "x serial", "GB/s",
              "% copy");
}

bool FilterTable::wants(const std::string& utility) const {
  if (options_.only.empty()) return true;
  for (const auto& part : options_.only) {
    if (utility.find(part) != std::string::npos) return true;
  }
  return false;
}

void FilterTable::set_copy(const std::string& where, double bytes_per_s, double bytes) {
  copies_.push_back({where, bytes, bytes_per_s});
  std::printf("%-34s %-12s %-18s %11s %9s %9.1f %7.1f\n", "copy (read + write)", where.c_str(), "", "", "",
              bytes_per_s * 1e-9, 100.0);
}

void FilterTable::add(FilterRow row) {
  const double rate = row.bytes / (row.ms.median * 1e-3);
  if (row.share != 0) {
    row.share = 0;
    for (const Copy& copy : copies_) {
      if (copy.where == row.where) row.share = rate / copy.bytes_per_s;
    }
  }
  if (const auto found = peers_.find(row.variant); found != peers_.end()) row.peer = found->second;
  const std::string words = row.peer + (row.peer.empty() || row.note.empty() ? "" : " ") + row.note;
  const auto or_blank = [](double value, const char* format) {
    char text[32] = "";
    if (value != 0) std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  std::printf("%-34s %-12s %-18s %11.5f %9s %9s %7s %s\n", row.utility.c_str(), row.where.c_str(), row.variant.c_str(),
              row.ms.median, or_blank(row.serial_ms / row.ms.median, "%.1f").c_str(),
              or_blank(rate * 1e-9, "%.1f").c_str(), or_blank(row.share * 100, "%.1f").c_str(), words.c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void FilterTable::add_cpu_forms(const std::string& utility, double bytes, bool bound,
                                const std::function<void(FilterForm)>& work) {
  if (!wants(utility)) return;
  const double share = bound ? 1 : 0;
  const Sample serial = time_on_cpu(std::min(options_.repeats, 3), [&] { work(FilterForm::serial); });
  add({utility, "cpu", "serial", bytes, serial, serial.median, share, ""});
  add({utility, "cpu", "fast", bytes, time_on_cpu(options_.repeats, [&] { work(FilterForm::fast); }), serial.median,
       share, ""});
}

void FilterTable::finish() const {
  nlohmann::ordered_json copies = nlohmann::ordered_json::array();
  for (const Copy& copy : copies_) {
    copies.push_back({{"where", copy.where}, {"bytes", copy.bytes}, {"bytes_per_s", copy.bytes_per_s}});
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const FilterRow& row : rows_) {
    nlohmann::ordered_json json = {{"utility", row.utility},
                                   {"where", row.where},
                                   {"variant", row.variant},
                                   {"bytes", row.bytes},
                                   {"ms", to_json(row.ms)}};
    if (row.serial_ms != 0) json["times_serial"] = row.serial_ms / row.ms.median;
    if (row.share != 0) json["share_of_copy"] = row.share;
    if (!row.peer.empty()) json["peer"] = row.peer;
    if (!row.note.empty()) json["note"] = row.note;
    rows.push_back(std::move(json));
  }
  const auto threads =
      options_.threads > 0 ? static_cast<unsigned>(options_.threads) : std::thread::hardware_concurrency();
  write_figures(options_.json, {{"bench", name_},
                                {"threads", threads},
                                {"repeats", options_.repeats},
                                {"copies", std::move(copies)},
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

tools::Subcommand make_filter_bench(const std::string& name, const std::string& description, AddFilterRows on_cpu,
                                    AddFilterRows on_gpu) {
  return bench_command<FilterBenchOptions>(
      name, description, [=](FilterBenchOptions& options, const tools::Session& session) {
        options.threads = session.common.threads;
        std::optional<tbb::global_control> threads;
        if (options.threads > 0) {
          threads.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
        }
        FilterTable table(name, options);
        if (options.cpu) on_cpu(options, table);
        if (options.cuda) on_gpu(options, table);
        table.finish();
      });
}

}  // namespace c63::bench
