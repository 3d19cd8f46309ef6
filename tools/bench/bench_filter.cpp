// c63bench filter: convolution, histogram, matrix product, frame shift and whitening, variant by variant.
#include <algorithm>
#include <array>
#include <memory>

#include "bench/filter_content.h"
#include "bench/filter_report.h"
#include "c63/filters.h"

namespace c63::bench {
namespace {

constexpr std::array kForms = {std::pair{FilterForm::serial, "serial"}, std::pair{FilterForm::fast, "fast"}};

/// Times both forms on the CPU and adds their rows; `bytes` != 0 and `bound` for what is bound by memory.
void add_forms(FilterTable& table, const FilterBenchOptions& options, const std::string& utility, double bytes,
               bool bound, const std::function<void(FilterForm)>& work) {
  double serial_ms = 0;
  for (const auto& [form, name] : kForms) {
    const int repeats = form == FilterForm::serial ? std::min(options.repeats, 3) : options.repeats;
    FilterRow row{utility, "cpu", name, bytes, time_on_cpu(repeats, [&] { work(form); }), 0, bound ? 1.0 : 0.0, ""};
    if (form == FilterForm::serial) serial_ms = row.ms.median;
    row.serial_ms = serial_ms;
    table.add(std::move(row));
  }
}

void bench_on_cpu(const FilterBenchOptions& options, FilterTable& table) {
  const auto bytes = static_cast<std::size_t>(options.megabytes * 1e6);
  table.set_copy("cpu", cpu_copy_rate(bytes, options.repeats), 2.0 * static_cast<double>(bytes));
  if (table.wants("mean of 5, double")) {
    const auto signal = random_values<double>(bytes / sizeof(double));
    std::vector<double> out(signal.size());
    add_forms(table, options, "mean of 5, double", 16.0 * static_cast<double>(signal.size()), true,
              [&](FilterForm form) { mean_filter(signal, 5, out, form); });
  }
  if (table.wants("gauss 1.5, 1080p u8")) {
    const auto picture = random_values<std::uint8_t>(1920 * 1080);
    std::vector<std::uint8_t> out(picture.size());
    const ByteKernel kernel = gauss_kernel(1.5);
    add_forms(table, options, "gauss 1.5, 1080p u8", 2.0 * 1920 * 1080, false, [&](FilterForm form) {
      convolve({picture.data(), 1920, 1080, 1920}, kernel, PlaneView{out.data(), 1920, 1080, 1920}, form);
    });
  }
  for (const std::string content : kByteContents) {
    const std::string utility = "histogram, u8 " + content;
    if (!table.wants(utility)) continue;
    const auto values = bytes_of(content, bytes);
    std::vector<std::uint64_t> counts(256);
    add_forms(table, options, utility, static_cast<double>(bytes), true,
              [&](FilterForm form) { histogram(values, BinMap::identity(), counts, form); });
  }
  if (table.wants("matrix product 512")) {
    const auto a = random_values<float>(512 * 512);
    std::vector<float> c(a.size());
    add_forms(table, options, "matrix product 512", 0, false, [&](FilterForm form) {
      multiply({a.data(), 512, 512, 512}, {a.data(), 512, 512, 512}, {c.data(), 512, 512, 512}, form);
    });
  }
  const auto samples = random_values<std::uint8_t>(21 * 512 * 512);
  std::vector<ConstPlaneView> frames;
  for (std::size_t k = 0; k < 21; ++k) frames.push_back({samples.data() + k * 512 * 512, 512, 512, 512});
  const std::span<const ConstPlaneView> history = std::span(frames).subspan(1);
  if (table.wants("shifts of 20 frames, 512x512")) {
    add_forms(table, options, "shifts of 20 frames, 512x512", 0, false, [&](FilterForm form) {
      const ShiftReference<std::uint8_t> reference(frames[0], form);
      for (const auto& frame : history) static_cast<void>(reference.shift_of(frame));
    });
  }
  for (const bool correlation : {false, true}) {
    for (const bool reject : {false, true}) {
      const std::string utility = std::string("whitening 512x512, 20, ") + (correlation ? "corr." : "shift") +
                                  (reject ? ", reject" : "");
      if (!table.wants(utility)) continue;
      WhiteningSettings settings;
      settings.method = correlation ? WhiteningMethod::correlation : WhiteningMethod::shift;
      if (reject) settings.reject = 3;
      std::vector<float> out(512 * 512);
      add_forms(table, options, utility, 0, false, [&](FilterForm form) {
        const ShiftReference<std::uint8_t> reference(frames[0], form);
        whiten<std::uint8_t>(reference, frames[0], history, settings, {out.data(), 512, 512, 512}, form);
      });
    }
  }
}

const Registration registration{[](CLI::App& app) {
  const auto options = std::make_shared<FilterBenchOptions>();
  CLI::App* command = app.add_subcommand("filter", "convolution, histogram, matrix product, shift and whitening");
  add_options(*command, *options);
  command->callback([options] {
    FilterTable table("filter", *options);
    if (options->cpu) bench_on_cpu(*options, table);
    if (options->cuda) bench_filters_on_gpu(*options, table);
    table.finish();
  });
}};

}  // namespace
}  // namespace c63::bench
