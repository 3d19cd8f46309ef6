// c63bench scan: reductions and prefix scans, variant by variant.
#include <algorithm>
#include <array>
#include <memory>

#include "bench/filter_content.h"
#include "bench/filter_report.h"
#include "c63/filters.h"

namespace c63::bench {
namespace {

constexpr std::array kForms = {std::pair{FilterForm::serial, "serial"}, std::pair{FilterForm::fast, "fast"}};

void add_forms(FilterTable& table, const FilterBenchOptions& options, const std::string& utility, double bytes,
               const std::function<void(FilterForm)>& work) {
  if (!table.wants(utility)) return;
  double serial_ms = 0;
  for (const auto& [form, name] : kForms) {
    const int repeats = form == FilterForm::serial ? std::min(options.repeats, 3) : options.repeats;
    FilterRow row{utility, "cpu", name, bytes, time_on_cpu(repeats, [&] { work(form); }), 0, 1, ""};
    if (form == FilterForm::serial) serial_ms = row.ms.median;
    row.serial_ms = serial_ms;
    table.add(std::move(row));
  }
}

void bench_on_cpu(const FilterBenchOptions& options, FilterTable& table) {
  const auto bytes = static_cast<std::size_t>(options.megabytes * 1e6) / 64 * 64;
  table.set_copy("cpu", cpu_copy_rate(bytes, options.repeats), 2.0 * static_cast<double>(bytes));
  std::vector<float> floats(bytes / 4);
  std::vector<std::int32_t> ints(bytes / 4), out(bytes / 4);
  for (std::size_t i = 0; i < ints.size(); ++i) {
    ints[i] = static_cast<std::int32_t>(i * 2654435761U >> 20);
    floats[i] = static_cast<float>(ints[i]);
  }
  const auto once = static_cast<double>(bytes);
  volatile double sink = 0;
  add_forms(table, options, "sum, float", once, [&](FilterForm form) { sink = sum<float>(floats, form); });
  add_forms(table, options, "sum, int", once,
            [&](FilterForm form) { sink = static_cast<double>(sum<std::int32_t>(ints, form)); });
  {
    const auto a = random_values<std::uint8_t>(bytes / 2);
    const std::vector<std::uint8_t> b(a.rbegin(), a.rend());
    add_forms(table, options, "squared errors, u8", once,
              [&](FilterForm form) { sink = static_cast<double>(sum_of_squared_errors(a, b, form)); });
  }
  add_forms(table, options, "maximum, float", once, [&](FilterForm form) { sink = maximum<float>(floats, form); });
  add_forms(table, options, "place of minimum, float", once,
            [&](FilterForm form) { sink = static_cast<double>(argmin<float>(floats, form)); });
  add_forms(table, options, "inclusive scan, int", 2 * once,
            [&](FilterForm form) { inclusive_scan<std::int32_t>(ints, out, form); });
  add_forms(table, options, "exclusive scan, int", 2 * once,
            [&](FilterForm form) { exclusive_scan<std::int32_t>(ints, out, form); });
  const std::span<const float> picture = std::span<const float>(floats).first(std::min<std::size_t>(floats.size(), 512 * 512));
  add_forms(table, options, "sum of 512x512 floats", 0, [&](FilterForm form) { sink = sum<float>(picture, form); });
}

const Registration registration{[](CLI::App& app) {
  const auto options = std::make_shared<FilterBenchOptions>();
  CLI::App* command = app.add_subcommand("scan", "reductions and prefix scans");
  add_options(*command, *options);
  command->callback([options] {
    FilterTable table("scan", *options);
    if (options->cpu) bench_on_cpu(*options, table);
    if (options->cuda) bench_scans_on_gpu(*options, table);
    table.finish();
  });
}};

}  // namespace
}  // namespace c63::bench
