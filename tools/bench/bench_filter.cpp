// c63bench filter: convolution, histogram, matrix product, frame shift and whitening, variant by variant.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/filter_content.h"
#include "bench/filter_report.h"
#include "c63/filters.h"

namespace c63::bench {
namespace {

void bench_filters_on_cpu(const FilterBenchOptions& options, FilterTable& table) {
  const auto bytes = static_cast<std::size_t>(options.megabytes * 1e6);
  table.set_copy("cpu", cpu_copy_rate(bytes, options.repeats), 2.0 * static_cast<double>(bytes));
  if (table.wants("mean of 5, double")) {
    const auto signal = random_values<double>(bytes / sizeof(double));
    std::vector<double> out(signal.size());
    table.add_cpu_forms("mean of 5, double", 16.0 * static_cast<double>(signal.size()), true,
                        [&](FilterForm form) { mean_filter(signal, 5, out, form); });
  }
  if (table.wants("gauss 1.5, 1080p u8")) {
    const auto picture = random_values<std::uint8_t>(1920 * 1080);
    std::vector<std::uint8_t> out(picture.size());
    const ByteKernel kernel = gauss_kernel(1.5);
    table.add_cpu_forms("gauss 1.5, 1080p u8", 2.0 * 1920 * 1080, false, [&](FilterForm form) {
      convolve({picture.data(), 1920, 1080, 1920}, kernel, PlaneView{out.data(), 1920, 1080, 1920}, form);
    });
  }
  for (const std::string content : kByteContents) {
    const std::string utility = "histogram, u8 " + content;
    if (!table.wants(utility)) continue;
    const auto values = bytes_of(content, bytes);
    std::vector<std::uint64_t> counts(256);
    table.add_cpu_forms(utility, static_cast<double>(bytes), true,
                        [&](FilterForm form) { histogram(values, BinMap::identity(), counts, form); });
  }
  if (table.wants("matrix product 512")) {
    const auto a = random_values<float>(512 * 512);
    std::vector<float> c(a.size());
    table.add_cpu_forms("matrix product 512", 0, false, [&](FilterForm form) {
      multiply({a.data(), 512, 512, 512}, {a.data(), 512, 512, 512}, {c.data(), 512, 512, 512}, form);
    });
  }
  const auto samples = random_values<std::uint8_t>(21 * 512 * 512);
  std::vector<ConstPlaneView> frames;
  for (std::size_t k = 0; k < 21; ++k) frames.push_back({samples.data() + k * 512 * 512, 512, 512, 512});
  const std::span<const ConstPlaneView> history = std::span(frames).subspan(1);
  if (table.wants("shifts of 20 frames, 512x512")) {
    table.add_cpu_forms("shifts of 20 frames, 512x512", 0, false, [&](FilterForm form) {
      const ShiftReference<std::uint8_t> reference(frames[0], form);
      for (const auto& frame : history) static_cast<void>(reference.shift_of(frame));
    });
  }
  for (const bool correlation : {false, true}) {
    for (const bool reject : {false, true}) {
      const std::string utility =
          std::string("whitening 512x512, 20, ") + (correlation ? "corr." : "shift") + (reject ? ", reject" : "");
      if (!table.wants(utility)) continue;
      WhiteningSettings settings;
      settings.method = correlation ? WhiteningMethod::correlation : WhiteningMethod::shift;
      if (reject) settings.reject = 3;
      std::vector<float> out(512 * 512);
      table.add_cpu_forms(utility, 0, false, [&](FilterForm form) {
        const ShiftReference<std::uint8_t> reference(frames[0], form);
        whiten<std::uint8_t>(reference, frames[0], history, settings, {out.data(), 512, 512, 512}, form);
      });
    }
  }
}

}  // namespace

tools::Subcommand filter_bench() {
  return make_filter_bench("filter", "Measure convolution, histogram, matrix product, shift and whitening",
                           bench_filters_on_cpu, bench_filters_on_gpu);
}

}  // namespace c63::bench
