// c63bench scan: reductions and prefix scans, variant by variant.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/benches.h"
#include "bench/filter_content.h"
#include "bench/filter_report.h"
#include "c63/filters.h"

namespace c63::bench {
namespace {

void bench_scans_on_cpu(const FilterBenchOptions& options, FilterTable& table) {
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
  table.add_cpu_forms("sum, float", once, true, [&](FilterForm form) { sink = sum<float>(floats, form); });
  table.add_cpu_forms("sum, int", once, true,
                      [&](FilterForm form) { sink = static_cast<double>(sum<std::int32_t>(ints, form)); });
  {
    const auto a = random_values<std::uint8_t>(bytes / 2);
    const std::vector<std::uint8_t> b(a.rbegin(), a.rend());
    table.add_cpu_forms("squared errors, u8", once, true,
                        [&](FilterForm form) { sink = static_cast<double>(sum_of_squared_errors(a, b, form)); });
  }
  table.add_cpu_forms("maximum, float", once, true, [&](FilterForm form) { sink = maximum<float>(floats, form); });
  table.add_cpu_forms("place of minimum, float", once, true,
                      [&](FilterForm form) { sink = static_cast<double>(argmin<float>(floats, form)); });
  table.add_cpu_forms("inclusive scan, int", 2 * once, true,
                      [&](FilterForm form) { inclusive_scan<std::int32_t>(ints, out, form); });
  table.add_cpu_forms("exclusive scan, int", 2 * once, true,
                      [&](FilterForm form) { exclusive_scan<std::int32_t>(ints, out, form); });
  const std::span<const float> picture =
      std::span<const float>(floats).first(std::min<std::size_t>(floats.size(), 512 * 512));
  table.add_cpu_forms("sum of 512x512 floats", 0, false, [&](FilterForm form) { sink = sum<float>(picture, form); });
}

}  // namespace

tools::Subcommand scan_bench() {
  return make_filter_bench("scan", "Measure reductions and prefix scans", bench_scans_on_cpu, bench_scans_on_gpu);
}

}  // namespace c63::bench
