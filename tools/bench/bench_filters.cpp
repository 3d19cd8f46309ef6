// c63bench filter and c63bench scan: the serial and the fast form of each filter on the CPU, and all variants on the GPU.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

#include "bench/filter_table.h"
#include "c63/filters.h"
#include "c63/thread_pool.h"

namespace c63::bench {

FilterTable::FilterTable(std::string_view name, const Options& options)
    : options_(options),
      report_(name, options, {{"utility", "utility", -34}, {"where", "where", -6}, {"variant", "variant", -18}, {"ms/median", "ms", 11, 5},
                              {"times_serial", "x serial", 9, 1}, {"bytes_per_s", "GB/s", 9, 1, 1e-9}, {"share_of_copy", "% copy", 7, 1, 100},
                              {"peer", "", -1}, {"note", "", -1}}) {
  report_.about().update({{"threads", options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency())},
                          {"repeats", options.repeats}});
  report_.print_titles();
}

void FilterTable::add_copy(const std::string& where, Sample seconds) {
  add({.utility = "copy (read + write)", .where = where, .bytes = 2.0 * static_cast<double>(bytes()), .seconds = seconds});
  copies_[where] = 2.0 * static_cast<double>(bytes()) / seconds.median;
}

void FilterTable::add(const FilterRow& row) {
  Json json = {{"utility", row.utility}, {"where", row.where}, {"variant", row.variant}, {"bytes", row.bytes}, {"ms", row.seconds.times(1e3)}};
  const double rate = row.bytes / row.seconds.median;
  if (row.bytes > 0) json["bytes_per_s"] = rate;
  if (row.serial_s > 0) json["times_serial"] = row.serial_s / row.seconds.median;
  if (row.bound) json["share_of_copy"] = rate / copies_.at(row.where);
  if (const auto peer = peers_.find(row.variant); peer != peers_.end()) json["peer"] = peer->second;
  if (!row.note.empty()) json["note"] = row.note;
  report_.add(std::move(json));
}

std::vector<std::uint8_t> bytes_of(const std::string& content, std::size_t count) {
  auto bytes = random_values<std::uint8_t>(count);
  if (content == "skewed") {
    for (std::uint8_t& byte : bytes) byte = byte < 230 ? 16 : byte;
  } else if (content == "video") {
    std::array<std::uint8_t, 1920> row;
    for (std::size_t x = 0; x < row.size(); ++x) {
      row[x] = static_cast<std::uint8_t>(110 + 60 * std::sin(static_cast<double>(x) * 0.003));
    }
    for (std::size_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<std::uint8_t>(row[i % row.size()] + (i / row.size() / 40) % 32 + (bytes[i] & 7));
    }
  }
  return bytes;
}

namespace {

void copy_on_cpu(FilterTable& table) {
  const std::vector<std::uint8_t> from(table.bytes(), 1);
  std::vector<std::uint8_t> to(table.bytes(), 2);
  constexpr std::size_t kPieces = 64;
  table.add_copy("cpu", measure(timed([&] {
                                  parallel_for(kPieces, [&](std::size_t piece) {
                                    const std::size_t first = from.size() * piece / kPieces;
                                    std::memcpy(to.data() + first, from.data() + first, from.size() * (piece + 1) / kPieces - first);
                                  });
                                }),
                                table.options().repeats));
}

/// Times the serial and the fast form of a filter.
void add_forms(FilterTable& table, const std::string& utility, double bytes, bool bound, const std::function<void(FilterForm)>& work) {
  if (!table.wants(utility)) return;
  FilterRow row{.utility = utility, .where = "cpu", .bytes = bytes, .bound = bound};
  for (const FilterForm form : {FilterForm::serial, FilterForm::fast}) {
    const bool serial = form == FilterForm::serial;
    row.variant = serial ? "serial" : "fast";
    row.seconds = measure(timed([&] { work(form); }), serial ? std::min(table.options().repeats, 3) : table.options().repeats);
    if (serial) row.serial_s = row.seconds.median;
    table.add(row);
  }
}

void filters_on_cpu(FilterTable& table) {
  const auto once = static_cast<double>(table.bytes());
  const auto signal = random_values<double>(table.bytes() / sizeof(double));
  std::vector<double> means(signal.size());
  add_forms(table, "mean of 5, double", 2 * once, true, [&](FilterForm form) { mean_filter(signal, 5, means, form); });
  const auto picture = random_values<std::uint8_t>(1920 * 1080);
  std::vector<std::uint8_t> blurred(picture.size());
  const ByteKernel kernel = gauss_kernel(1.5);
  add_forms(table, "gauss 1.5, 1080p u8", 2.0 * 1920 * 1080, false, [&](FilterForm form) {
    convolve({picture.data(), 1920, 1080, 1920}, kernel, PlaneView{blurred.data(), 1920, 1080, 1920}, form);
  });
  for (const std::string content : kByteContents) {
    const std::string utility = "histogram, u8 " + content;
    if (!table.wants(utility)) continue;
    const auto values = bytes_of(content, table.bytes());
    std::vector<std::uint64_t> counts(256);
    add_forms(table, utility, once, true, [&](FilterForm form) { histogram(values, BinMap::identity(), counts, form); });
  }
  const auto a = random_values<float>(512 * 512);
  std::vector<float> c(a.size());
  add_forms(table, "matrix product 512", 0, false, [&](FilterForm form) {
    multiply({a.data(), 512, 512, 512}, {a.data(), 512, 512, 512}, {c.data(), 512, 512, 512}, form);
  });
  const auto samples = random_values<std::uint8_t>(21 * 512 * 512);
  std::vector<ConstPlaneView> frames;
  for (std::size_t k = 0; k < 21; ++k) frames.push_back({samples.data() + k * 512 * 512, 512, 512, 512});
  const std::span<const ConstPlaneView> history = std::span(frames).subspan(1);
  add_forms(table, "shifts of 20 frames, 512x512", 0, false, [&](FilterForm form) {
    const ShiftReference<std::uint8_t> reference(frames[0], form);
    for (const auto& frame : history) static_cast<void>(reference.shift_of(frame));
  });
  for (const bool correlation : {false, true}) {
    for (const bool reject : {false, true}) {
      WhiteningSettings settings;
      settings.method = correlation ? WhiteningMethod::correlation : WhiteningMethod::shift;
      if (reject) settings.reject = 3;
      std::vector<float> out(512 * 512);
      add_forms(table, std::string("whitening 512x512, 20, ") + (correlation ? "corr." : "shift") + (reject ? ", reject" : ""), 0, false,
                [&](FilterForm form) {
                  const ShiftReference<std::uint8_t> reference(frames[0], form);
                  whiten<std::uint8_t>(reference, frames[0], history, settings, {out.data(), 512, 512, 512}, form);
                });
    }
  }
}

void scans_on_cpu(FilterTable& table) {
  const std::size_t count = table.bytes() / 4;
  std::vector<float> floats(count);
  std::vector<std::int32_t> ints(count), out(count);
  for (std::size_t i = 0; i < count; ++i) {
    ints[i] = static_cast<std::int32_t>(i * 2654435761U >> 20);
    floats[i] = static_cast<float>(ints[i]);
  }
  const auto a = random_values<std::uint8_t>(table.bytes() / 2);
  const std::vector<std::uint8_t> b(a.rbegin(), a.rend());
  const auto once = static_cast<double>(table.bytes());
  volatile double result = 0;
  add_forms(table, "sum, float", once, true, [&](FilterForm form) { result = sum<float>(floats, form); });
  add_forms(table, "sum, int", once, true, [&](FilterForm form) { result = static_cast<double>(sum<std::int32_t>(ints, form)); });
  add_forms(table, "squared errors, u8", once, true,
            [&](FilterForm form) { result = static_cast<double>(sum_of_squared_errors(a, b, form)); });
  add_forms(table, "maximum, float", once, true, [&](FilterForm form) { result = maximum<float>(floats, form); });
  add_forms(table, "place of minimum, float", once, true,
            [&](FilterForm form) { result = static_cast<double>(argmin<float>(floats, form)); });
  add_forms(table, "inclusive scan, int", 2 * once, true, [&](FilterForm form) { inclusive_scan<std::int32_t>(ints, out, form); });
  add_forms(table, "exclusive scan, int", 2 * once, true, [&](FilterForm form) { exclusive_scan<std::int32_t>(ints, out, form); });
  const std::span<const float> picture = std::span<const float>(floats).first(std::min<std::size_t>(count, 512 * 512));
  add_forms(table, "sum of 512x512 floats", 0, false, [&](FilterForm form) { result = sum<float>(picture, form); });
}

void run_filters(std::string_view name, const Options& options, void (*on_cpu)(FilterTable&), [[maybe_unused]] void (*on_gpu)(FilterTable&)) {
  FilterTable table(name, options);
  if (options.cpu) {
    ThreadPool(options.threads).execute([&] {
      copy_on_cpu(table);
      on_cpu(table);
    });
  }
  if (options.cuda) {
    if (on_gpu != nullptr) on_gpu(table);
    else std::puts("GPU: this c63 was built without CUDA");
  }
  table.finish();
}

#if defined(C63_HAVE_CUDA)
constexpr auto kFiltersOnGpu = bench_filters_on_gpu;
constexpr auto kScansOnGpu = bench_scans_on_gpu;
#else
constexpr void (*kFiltersOnGpu)(FilterTable&) = nullptr;
constexpr auto kScansOnGpu = kFiltersOnGpu;
#endif

}  // namespace

void bench_filters(const Options& options) { run_filters("filter", options, filters_on_cpu, kFiltersOnGpu); }
void bench_scans(const Options& options) { run_filters("scan", options, scans_on_cpu, kScansOnGpu); }

}  // namespace c63::bench
