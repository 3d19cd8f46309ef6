// The GPU's part of `c63bench filter` and `c63bench scan`. It times the variants of each filter and scan. A variant whose
// result differs from the CPU's ends the run with an error. Matrix products, and variants so slow that they get only a part
// of a histogram's input, are not compared.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/filter_content.h"
#include "bench/filter_report.h"
#include "c63/cuda/devices.h"
#include "c63/cuda/filters.h"
#include "c63/error.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

using cuda::DeviceArray;
using cuda::FilterQueue;

constexpr const char* kWhere = "gpu";

/// Returns the milliseconds of one run of `work`. A graph of `inner` runs is timed by events.
Sample time_on_gpu(const FilterQueue& queue, int repeats, int inner, const std::function<void()>& work) {
  work();
  queue.synchronize();
  const cuda::GraphExec graph(cuda::Graph::capture(queue.stream(), [&] {
    for (int i = 0; i < inner; ++i) work();
  }));
  const cuda::Event start(cuda::Event::Timing::on);
  const cuda::Event stop(cuda::Event::Timing::on);
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    start.record(queue.stream());
    graph.launch(queue.stream());
    stop.record(queue.stream());
    stop.synchronize();
    if (i > 0) times.push_back(stop.milliseconds_since(start) / inner);
  }
  return summarize(std::move(times));
}

double copy_rate(const FilterQueue& queue, std::size_t bytes, int repeats) {
  const DeviceArray<std::uint8_t> from(queue, bytes), to(queue, bytes);
  const Sample ms =
      time_on_gpu(queue, repeats, 1, [&] { cuda::copy_async(to.data(), from.data(), bytes, queue.stream()); });
  return 2.0 * static_cast<double>(bytes) / (ms.median * 1e-3);
}

/// Opens the GPU and measures the rate of a copy in its memory. Returns nothing if no GPU can be used.
std::optional<FilterQueue> open(const FilterBenchOptions& options, FilterTable& table) {
  if (cuda::devices().state != cuda::DeviceState::usable) {
    std::printf("GPU: %s\n", cuda::devices().reason.c_str());
    return std::nullopt;
  }
  FilterQueue queue(options.device);
  table.set_peer("cub", "CUB " + std::string(cuda::cub_version()));
  std::printf("GPU: %s\n", cuda::require_device(options.device).name.c_str());
  const auto bytes = static_cast<std::size_t>(options.megabytes * 1e6) / 256 * 256;
  table.set_copy(kWhere, copy_rate(queue, bytes, options.repeats), 2.0 * static_cast<double>(bytes));
  return queue;
}

void require_same(bool same, const std::string& utility, std::string_view variant) {
  if (!same) {
    throw Error(ErrorKind::comparison, "C63-BENCH-DIFFERS",
                utility + ", variant " + std::string(variant) + ": not what the CPU computes");
  }
}

void bench_convolution(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue) {
  const std::string utility = "mean of 5, double";
  if (!table.wants(utility)) return;
  const auto count = static_cast<std::size_t>(options.megabytes * 1e6) / sizeof(double) / 2 * 2;
  const auto signal = random_values<double>(count);
  std::vector<double> expected(count);
  const double serial_ms = time_on_cpu(1, [&] { mean_filter(signal, 5, expected, FilterForm::serial); }).median;
  const DeviceArray<double> in(queue, std::span<const double>(signal)), out(queue, count);
  for (const auto& [name, variant] : cuda::variant_names<cuda::ConvolutionVariant>()) {
    const auto work = [&, v = variant] { cuda::mean_filter(queue, in.const_span(), 5, out.span(), v); };
    work();
    require_same(out.download(queue) == expected, utility, name);
    table.add({utility, kWhere, std::string(name), 16.0 * static_cast<double>(count),
               time_on_gpu(queue, options.repeats, 1, work), serial_ms, 1, ""});
  }
}

void bench_convolution_2d(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue) {
  constexpr int kWidth = 3840, kHeight = 2160;
  const auto picture = random_values<std::uint8_t>(kWidth * kHeight);
  const DeviceArray<std::uint8_t> in(queue, std::span<const std::uint8_t>(picture)), out(queue, picture.size());
  for (const int size : {3, 9, 31}) {
    const std::string utility = "2-D mean " + std::to_string(size) + "x" + std::to_string(size) + ", 2160p u8";
    if (!table.wants(utility)) continue;
    const ByteKernel kernel = mean_kernel(size);
    std::vector<std::uint8_t> expected(picture.size());
    const PlaneView expected_view{expected.data(), kWidth, kHeight, kWidth};
    const Sample cpu = time_on_cpu(3, [&] {
      convolve({picture.data(), kWidth, kHeight, kWidth}, kernel, expected_view);
    });
    for (const auto& [name, variant] : cuda::variant_names<cuda::Convolution2dVariant>()) {
      const auto work = [&, v = variant] {
        cuda::convolve(queue, ConstPlaneView{in.data(), kWidth, kHeight, kWidth}, kernel,
                       PlaneView{out.data(), kWidth, kHeight, kWidth}, v);
      };
      work();
      require_same(out.download(queue) == expected, utility, name);
      char note[64];
      std::snprintf(note, sizeof note, "(CPU fast %.2f ms)", cpu.median);
      table.add({utility, kWhere, std::string(name), 2.0 * kWidth * kHeight,
                 time_on_gpu(queue, options.repeats, 1, work), 0, 0, note});
    }
  }
}

void bench_histogram(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue) {
  const auto count = static_cast<std::size_t>(options.megabytes * 1e6);
  const DeviceArray<std::uint64_t> counts(queue, 256);
  for (const std::string content : kByteContents) {
    const std::string utility = "histogram, u8 " + content;
    if (!table.wants(utility)) continue;
    const auto bytes = bytes_of(content, count);
    std::vector<std::uint64_t> expected(256);
    const double serial_ms =
        time_on_cpu(1, [&] { histogram(bytes, BinMap::identity(), expected, FilterForm::serial); }).median;
    const DeviceArray<std::uint8_t> in(queue, std::span<const std::uint8_t>(bytes));
    for (const auto& [name, variant] : cuda::variant_names<cuda::HistogramVariant>()) {
      const bool slow = variant == cuda::HistogramVariant::sections || variant == cuda::HistogramVariant::interleaved;
      const auto some = slow ? in.const_span().first(count / 16) : in.const_span();
      const auto work = [&, v = variant] { cuda::histogram(queue, some, BinMap::identity(), counts.span(), v); };
      work();
      if (!slow) require_same(counts.download(queue) == expected, utility, name);
      table.add({utility, kWhere, std::string(name), static_cast<double>(some.size()),
                 time_on_gpu(queue, slow ? 2 : options.repeats, 1, work), slow ? serial_ms / 16 : serial_ms, 1,
                 slow                                       ? "(a sixteenth of the input)"
                 : variant == cuda::HistogramVariant::cub ? "(32-bit counters)"
                                                          : ""});
    }
  }
}

void bench_product(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue) {
  const std::string utility = "matrix product 2048";
  if (!table.wants(utility)) return;
  constexpr int kSide = 2048;
  const auto values = random_values<float>(kSide * kSide);
  const DeviceArray<float> a(queue, std::span<const float>(values)), c(queue, values.size());
  for (const auto& [name, variant] : cuda::variant_names<cuda::ProductVariant>()) {
    const BasicPlaneView<const float> in{a.data(), kSide, kSide, kSide};
    const Sample ms = time_on_gpu(queue, std::min(options.repeats, 5), 1, [&, v = variant] {
      cuda::multiply(queue, in, in, {c.data(), kSide, kSide, kSide}, v);
    });
    char note[64];
    std::snprintf(note, sizeof note, "(%.2f TFLOP/s)", 2.0 * kSide * kSide * kSide / (ms.median * 1e-3) * 1e-12);
    table.add({utility, kWhere, std::string(name), 0, ms, 0, 0, note});
  }
}

void bench_whitening(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue) {
  constexpr int kSide = 512;
  const auto samples = random_values<std::uint8_t>(21 * kSide * kSide);
  const DeviceArray<std::uint8_t> device(queue, std::span<const std::uint8_t>(samples));
  std::vector<ConstPlaneView> frames, host;
  for (std::size_t k = 0; k < 21; ++k) {
    frames.push_back({device.data() + k * kSide * kSide, kSide, kSide, kSide});
    host.push_back({samples.data() + k * kSide * kSide, kSide, kSide, kSide});
  }
  const std::span<const ConstPlaneView> history = std::span(frames).subspan(1);
  const std::string shifts = "shifts of 20 frames, 512x512";
  if (table.wants(shifts)) {
    const ShiftReference<std::uint8_t> reference(host[0], FilterForm::serial);
    std::vector<ShiftSums> sums(20);
    const double serial_ms = time_on_cpu(1, [&] {
                               for (std::size_t k = 0; k < 20; ++k) sums[k] = reference.sums_of(host[k + 1]);
                             }).median;
    const auto expected = sums;
    for (const auto& [name, variant] : cuda::variant_names<cuda::ShiftVariant>()) {
      const Sample ms = time_on_cpu(options.repeats * 4, [&, v = variant] {
        cuda::shift_sums(queue, frames[0], history, sums, v);
      });
      bool same = true;
      for (std::size_t k = 0; k < 20; ++k) same = same && sums[k].p == expected[k].p && sums[k].q == expected[k].q;
      require_same(same, shifts, name);
      table.add({shifts, kWhere, std::string(name), 0, ms, serial_ms, 0, "(to the sums on the host)"});
    }
  }
  for (const bool correlation : {false, true}) {
    for (const bool reject : {false, true}) {
      const std::string utility =
          std::string("whitening 512x512, 20, ") + (correlation ? "corr." : "shift") + (reject ? ", reject" : "");
      if (!table.wants(utility)) continue;
      WhiteningSettings settings;
      settings.method = correlation ? WhiteningMethod::correlation : WhiteningMethod::shift;
      if (reject) settings.reject = 3;
      std::vector<float> expected(kSide * kSide);
      const ShiftReference<std::uint8_t> reference(host[0]);
      whiten<std::uint8_t>(reference, host[0], std::span(host).subspan(1), settings,
                           {expected.data(), kSide, kSide, kSide});
      cuda::WhiteningEngine engine(queue, frames[0], settings);
      const DeviceArray<float> out(queue, kSide * kSide);
      const auto work = [&] { engine.whiten(frames[0], history, {out.data(), kSide, kSide, kSide}); };
      work();
      engine.finish();
      const auto got = out.download(queue);
      bool same = true;
      for (std::size_t i = 0; i < got.size(); ++i) same = same && std::abs(got[i] - expected[i]) < 0.01F;
      require_same(same, utility, "best");
      table.add({utility, kWhere, "resident, graph", 0, time_on_gpu(queue, options.repeats, 50, work), 0, 0,
                 "(shifts, weights, output)"});
    }
  }
}

template <typename T>
void bench_sum(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue, const std::string& utility,
               std::size_t count, int inner, bool slow_ones, bool bound) {
  if (!table.wants(utility)) return;
  const auto values = random_values<T>(count);
  const std::span<const T> host(values);
  SumOf<T> expected{};
  const double serial_ms = time_on_cpu(3, [&] { expected = sum<T>(host, FilterForm::serial); }).median;
  const DeviceArray<T> in(queue, host);
  const DeviceArray<SumOf<T>> result(queue, 1);
  for (const auto& [name, variant] : cuda::variant_names<cuda::ReductionVariant>()) {
    const bool slow = variant == cuda::ReductionVariant::one_thread || variant == cuda::ReductionVariant::one_block;
    if (slow && !slow_ones) continue;
    const auto work = [&, v = variant] { cuda::sum<T>(queue, in.const_span(), result.data(), v); };
    work();
    require_same(std::abs(static_cast<double>(result.download(queue)[0]) - static_cast<double>(expected)) <=
                     1e-12 * static_cast<double>(expected),
                 utility, name);
    table.add({utility, kWhere, std::string(name), static_cast<double>(count * sizeof(T)),
               time_on_gpu(queue, slow ? 2 : options.repeats, slow ? 1 : inner, work), serial_ms, bound ? 1.0 : 0.0,
               inner > 1 && !slow ? "(in a graph)" : ""});
  }
}

void bench_errors(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue) {
  const std::string utility = "squared errors, u8";
  if (!table.wants(utility)) return;
  const auto a = random_values<std::uint8_t>(static_cast<std::size_t>(options.megabytes * 1e6) / 2);
  const std::vector<std::uint8_t> b(a.rbegin(), a.rend());
  std::uint64_t expected = 0;
  const double serial_ms = time_on_cpu(3, [&] { expected = sum_of_squared_errors(a, b, FilterForm::serial); }).median;
  const DeviceArray<std::uint8_t> device_a(queue, std::span<const std::uint8_t>(a));
  const DeviceArray<std::uint8_t> device_b(queue, std::span<const std::uint8_t>(b));
  const DeviceArray<std::uint64_t> result(queue, 1);
  const auto work = [&] {
    cuda::sum_of_squared_errors(queue, device_a.const_span(), device_b.const_span(), result.data());
  };
  work();
  require_same(result.download(queue)[0] == expected, utility, "best");
  table.add({utility, kWhere, "best", 2.0 * static_cast<double>(a.size()), time_on_gpu(queue, options.repeats, 1, work),
             serial_ms, 1, ""});
}

/// Times how much longer a frame would take if the encoder used the library's functions for sums and offsets. The
/// encoder's kernels compute these from values in registers.
void bench_frame(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue) {
  constexpr std::size_t kSamples = 1920 * 1080;
  constexpr std::size_t kSegments = 1020;
  const auto samples = random_values<std::uint8_t>(kSamples);
  const DeviceArray<std::uint8_t> a(queue, std::span<const std::uint8_t>(samples)), b(queue, kSamples);
  const DeviceArray<std::uint64_t> errors(queue, 3);
  if (const std::string utility = "squared errors of a 1080p frame"; table.wants(utility)) {
    const auto work = [&] {
      for (std::size_t p = 0; p < 3; ++p) {
        const std::size_t count = p == 0 ? kSamples : kSamples / 4;
        cuda::sum_of_squared_errors(queue, a.const_span().first(count), b.const_span().first(count), errors.data() + p);
      }
    };
    table.add({utility, kWhere, "best", 0, time_on_gpu(queue, options.repeats, 50, work), 0, 0, "(in a graph)"});
  }
  const DeviceArray<std::uint32_t> bits(queue, kSegments), offsets(queue, kSegments);
  if (const std::string utility = "bit offsets of 1020 segments"; table.wants(utility)) {
    const auto work = [&] { cuda::exclusive_scan<std::uint32_t>(queue, bits.const_span(), offsets.span()); };
    table.add({utility, kWhere, "best", 0, time_on_gpu(queue, options.repeats, 50, work), 0, 0, "(in a graph)"});
  }
}

void bench_scan(const FilterBenchOptions& options, FilterTable& table, FilterQueue& queue, bool inclusive) {
  const std::string utility = inclusive ? "inclusive scan, int" : "exclusive scan, int";
  if (!table.wants(utility)) return;
  const auto count = static_cast<std::size_t>(options.megabytes * 1e6) / sizeof(std::int32_t);
  const auto values = random_values<std::int32_t>(count);
  const auto scan = [&](std::span<std::int32_t> to) {
    inclusive ? inclusive_scan<std::int32_t>(values, to, FilterForm::serial)
              : exclusive_scan<std::int32_t>(values, to, FilterForm::serial);
  };
  std::vector<std::int32_t> expected(count);
  const double serial_ms = time_on_cpu(1, [&] { scan(expected); }).median;
  const DeviceArray<std::int32_t> in(queue, std::span<const std::int32_t>(values)), out(queue, count);
  for (const auto& [name, variant] : cuda::variant_names<cuda::ScanVariant>()) {
    const bool slow = variant == cuda::ScanVariant::hillis_steele || variant == cuda::ScanVariant::blelloch ||
                      variant == cuda::ScanVariant::blelloch_padded;
    const std::size_t some = slow ? count / 64 : count;
    const auto work = [&, v = variant] {
      const auto from = in.const_span().first(some);
      const auto to = out.span().first(some);
      inclusive ? cuda::inclusive_scan<std::int32_t>(queue, from, to, v)
                : cuda::exclusive_scan<std::int32_t>(queue, from, to, v);
    };
    work();
    const auto got = out.download(queue);
    require_same(std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(some), expected.begin()), utility,
                 name);
    table.add({utility, kWhere, std::string(name), 8.0 * static_cast<double>(some),
               time_on_gpu(queue, slow ? 3 : options.repeats, 1, work), slow ? serial_ms / 64 : serial_ms, 1,
               slow ? "(one block, a 64th of the input)" : ""});
  }
}

}  // namespace

void bench_filters_on_gpu(const FilterBenchOptions& options, FilterTable& table) {
  std::optional<FilterQueue> queue = open(options, table);
  if (!queue) return;
  bench_convolution(options, table, *queue);
  bench_convolution_2d(options, table, *queue);
  bench_histogram(options, table, *queue);
  bench_product(options, table, *queue);
  bench_whitening(options, table, *queue);
}

void bench_scans_on_gpu(const FilterBenchOptions& options, FilterTable& table) {
  std::optional<FilterQueue> queue = open(options, table);
  if (!queue) return;
  const auto bytes = static_cast<std::size_t>(options.megabytes * 1e6);
  bench_sum<float>(options, table, *queue, "sum of 512x512 floats", 512 * 512, 1000, true, false);
  bench_sum<float>(options, table, *queue, "sum, float", bytes / 4, 1, false, true);
  bench_sum<std::int32_t>(options, table, *queue, "sum, int", bytes / 4, 1, false, true);
  bench_sum<std::uint8_t>(options, table, *queue, "sum, u8", bytes, 1, false, true);
  bench_errors(options, table, *queue);
  bench_frame(options, table, *queue);
  bench_scan(options, table, *queue, true);
  bench_scan(options, table, *queue, false);
}

}  // namespace c63::bench
