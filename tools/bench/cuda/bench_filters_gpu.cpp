// The GPU's part of `c63bench filter` and `c63bench scan`. A variant whose result differs from the CPU's ends the run with an
// error. Matrix products, and variants so slow that they get only a part of a histogram's input, are not compared.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <optional>

#include "bench/cuda/probes.h"
#include "bench/filter_table.h"
#include "c63/cuda/devices.h"
#include "c63/cuda/filters.h"
#include "c63/error.h"
#include "cuda_me/runtime/memory.h"

namespace c63::bench {
namespace {

using cuda::DeviceArray;
using cuda::FilterQueue;

/// How a variant is timed.
struct Timing {
  int repeats = 0;   ///< 0: as often as the options say
  int inner = 1;     ///< runs in one graph
  double part = 1;   ///< the part of the input that it gets
  std::string note = {};
  bool skip = false;
};

/// Times work on a queue, and adds it to the table.
class GpuFilters {
 public:
  GpuFilters(FilterTable& table, FilterQueue& queue) : table_(table), queue_(queue) {}

  [[nodiscard]] FilterQueue& queue() const { return queue_; }
  [[nodiscard]] FilterTable& table() const { return table_; }
  /// Adds one row. `work` has run before, so its result can be compared.
  void add(FilterRow row, std::string_view variant, const Timing& how, const std::function<void()>& work) const {
    row.variant = variant;
    row.bytes *= how.part;
    row.serial_s *= how.part;
    row.note = how.note;
    row.seconds = measure(timed_on(queue_.stream(), work, how.inner), how.repeats > 0 ? how.repeats : table_.options().repeats);
    table_.add(row);
  }
  /// Adds a row for each variant. Throws Error (comparison) if `same` returns false after a run of it.
  template <typename Variant>
  void each(const FilterRow& row, const std::function<void(Variant)>& work, const std::function<bool(Variant)>& same,
            const std::function<Timing(Variant)>& how = [](Variant) { return Timing{}; }) const {
    for (const auto& [name, variant] : cuda::variant_names<Variant>()) {
      const Timing timing = how(variant);
      if (timing.skip) continue;
      const auto once = [&work, v = variant] { work(v); };
      once();
      require(same(variant), row.utility, name);
      add(row, name, timing, once);
    }
  }
  static void require(bool same, const std::string& utility, std::string_view variant) {
    if (same) return;
    throw Error(ErrorKind::comparison, "C63-BENCH-DIFFERS", fmt::format("{}, variant {}: not what the CPU computes", utility, variant));
  }

 private:
  FilterTable& table_;
  FilterQueue& queue_;
};

double seconds_on_cpu(int repeats, const std::function<void()>& work) { return measure(timed(work), repeats).median; }

void bench_convolution(const GpuFilters& gpu) {
  FilterRow row{.utility = "mean of 5, double", .where = "gpu", .bytes = 2.0 * static_cast<double>(gpu.table().bytes()), .bound = true};
  if (gpu.table().wants(row.utility)) {
    const auto signal = random_values<double>(gpu.table().bytes() / sizeof(double));
    std::vector<double> expected(signal.size());
    row.serial_s = seconds_on_cpu(1, [&] { mean_filter(signal, 5, expected, FilterForm::serial); });
    const DeviceArray<double> in(gpu.queue(), std::span<const double>(signal)), out(gpu.queue(), signal.size());
    gpu.each<cuda::ConvolutionVariant>(
        row, [&](auto v) { cuda::mean_filter(gpu.queue(), in.const_span(), 5, out.span(), v); },
        [&](auto) { return out.download(gpu.queue()) == expected; });
  }
  constexpr int kWidth = 3840, kHeight = 2160;
  const auto picture = random_values<std::uint8_t>(kWidth * kHeight);
  const DeviceArray<std::uint8_t> in(gpu.queue(), std::span<const std::uint8_t>(picture)), out(gpu.queue(), picture.size());
  for (const int size : {3, 9, 31}) {
    const FilterRow mean{.utility = fmt::format("2-D mean {}x{}, 2160p u8", size, size), .where = "gpu", .bytes = 2.0 * kWidth * kHeight};
    if (!gpu.table().wants(mean.utility)) continue;
    const ByteKernel kernel = mean_kernel(size);
    std::vector<std::uint8_t> expected(picture.size());
    const double cpu = seconds_on_cpu(
        3, [&] { convolve({picture.data(), kWidth, kHeight, kWidth}, kernel, PlaneView{expected.data(), kWidth, kHeight, kWidth}); });
    gpu.each<cuda::Convolution2dVariant>(
        mean,
        [&](auto v) {
          cuda::convolve(gpu.queue(), ConstPlaneView{in.data(), kWidth, kHeight, kWidth}, kernel,
                         PlaneView{out.data(), kWidth, kHeight, kWidth}, v);
        },
        [&](auto) { return out.download(gpu.queue()) == expected; },
        [&](auto) { return Timing{.note = fmt::format("(CPU fast {:.2f} ms)", cpu * 1e3)}; });
  }
}

void bench_histogram(const GpuFilters& gpu) {
  using Variant = cuda::HistogramVariant;
  const std::size_t count = gpu.table().bytes();
  const DeviceArray<std::uint64_t> counts(gpu.queue(), 256);
  const auto slow = [](Variant v) { return v == Variant::sections || v == Variant::interleaved; };
  for (const std::string content : kByteContents) {
    FilterRow row{.utility = "histogram, u8 " + content, .where = "gpu", .bytes = static_cast<double>(count), .bound = true};
    if (!gpu.table().wants(row.utility)) continue;
    const auto bytes = bytes_of(content, count);
    std::vector<std::uint64_t> expected(256);
    row.serial_s = seconds_on_cpu(1, [&] { histogram(bytes, BinMap::identity(), expected, FilterForm::serial); });
    const DeviceArray<std::uint8_t> in(gpu.queue(), std::span<const std::uint8_t>(bytes));
    gpu.each<Variant>(
        row,
        [&](Variant v) {
          cuda::histogram(gpu.queue(), slow(v) ? in.const_span().first(count / 16) : in.const_span(), BinMap::identity(), counts.span(), v);
        },
        [&](Variant v) { return slow(v) || counts.download(gpu.queue()) == expected; },
        [&](Variant v) {
          return slow(v) ? Timing{.repeats = 2, .part = 1.0 / 16, .note = "(a sixteenth of the input)"}
                         : Timing{.note = v == Variant::cub ? "(32-bit counters)" : ""};
        });
  }
}

void bench_product(const GpuFilters& gpu) {
  const FilterRow row{.utility = "matrix product 2048", .where = "gpu"};
  if (!gpu.table().wants(row.utility)) return;
  constexpr int kSide = 2048;
  const auto values = random_values<float>(kSide * kSide);
  const DeviceArray<float> a(gpu.queue(), std::span<const float>(values)), c(gpu.queue(), values.size());
  const BasicPlaneView<const float> in{a.data(), kSide, kSide, kSide};
  gpu.each<cuda::ProductVariant>(
      row, [&](auto v) { cuda::multiply(gpu.queue(), in, in, {c.data(), kSide, kSide, kSide}, v); }, [](auto) { return true; },
      [&](auto) { return Timing{.repeats = std::min(gpu.table().options().repeats, 5)}; });
}

void bench_whitening(const GpuFilters& gpu) {
  FilterQueue& queue = gpu.queue();
  constexpr int kSide = 512;
  const auto samples = random_values<std::uint8_t>(21 * kSide * kSide);
  const DeviceArray<std::uint8_t> device(queue, std::span<const std::uint8_t>(samples));
  std::vector<ConstPlaneView> frames, host;
  for (std::size_t k = 0; k < 21; ++k) {
    frames.push_back({device.data() + k * kSide * kSide, kSide, kSide, kSide});
    host.push_back({samples.data() + k * kSide * kSide, kSide, kSide, kSide});
  }
  const std::span<const ConstPlaneView> history = std::span(frames).subspan(1);
  FilterRow row{.utility = "shifts of 20 frames, 512x512", .where = "gpu", .note = "(to the sums on the host)"};
  if (gpu.table().wants(row.utility)) {
    const ShiftReference<std::uint8_t> reference(host[0], FilterForm::serial);
    std::vector<ShiftSums> sums(20);
    row.serial_s = seconds_on_cpu(1, [&] {
      for (std::size_t k = 0; k < 20; ++k) sums[k] = reference.sums_of(host[k + 1]);
    });
    const auto expected = sums;
    for (const auto& [name, variant] : cuda::variant_names<cuda::ShiftVariant>()) {  // a graph cannot hold what the host does
      row.variant = name;
      row.seconds = measure(timed([&, v = variant] { cuda::shift_sums(queue, frames[0], history, sums, v); }),
                            gpu.table().options().repeats * 4);
      GpuFilters::require(std::ranges::equal(sums, expected, [](const auto& a, const auto& b) { return a.p == b.p && a.q == b.q; }),
                          row.utility, name);
      gpu.table().add(row);
    }
  }
  for (const bool correlation : {false, true}) {
    for (const bool reject : {false, true}) {
      const FilterRow whitening{
          .utility = std::string("whitening 512x512, 20, ") + (correlation ? "corr." : "shift") + (reject ? ", reject" : ""), .where = "gpu"};
      if (!gpu.table().wants(whitening.utility)) continue;
      WhiteningSettings settings;
      settings.method = correlation ? WhiteningMethod::correlation : WhiteningMethod::shift;
      if (reject) settings.reject = 3;
      std::vector<float> expected(kSide * kSide);
      const ShiftReference<std::uint8_t> reference(host[0]);
      whiten<std::uint8_t>(reference, host[0], std::span(host).subspan(1), settings, {expected.data(), kSide, kSide, kSide});
      cuda::WhiteningEngine engine(queue, frames[0], settings);
      const DeviceArray<float> out(queue, kSide * kSide);
      const auto work = [&] { engine.whiten(frames[0], history, {out.data(), kSide, kSide, kSide}); };
      work();
      engine.finish();
      GpuFilters::require(std::ranges::equal(out.download(queue), expected, [](float a, float b) { return std::abs(a - b) < 0.01F; }),
                          whitening.utility, "best");
      gpu.add(whitening, "resident, graph", {.inner = 50, .note = "(shifts, weights, output)"}, work);
    }
  }
}

template <typename T>
void bench_sum(const GpuFilters& gpu, const std::string& utility, std::size_t count, int inner, bool slow_ones, bool bound) {
  using Variant = cuda::ReductionVariant;
  FilterRow row{.utility = utility, .where = "gpu", .bytes = static_cast<double>(count * sizeof(T)), .bound = bound};
  if (!gpu.table().wants(utility)) return;
  const auto values = random_values<T>(count);
  const std::span<const T> host(values);
  SumOf<T> expected{};
  row.serial_s = seconds_on_cpu(3, [&] { expected = sum<T>(host, FilterForm::serial); });
  const DeviceArray<T> in(gpu.queue(), host);
  const DeviceArray<SumOf<T>> result(gpu.queue(), 1);
  gpu.each<Variant>(
      row, [&](Variant v) { cuda::sum<T>(gpu.queue(), in.const_span(), result.data(), v); },
      [&](Variant) {
        return std::abs(static_cast<double>(result.download(gpu.queue())[0]) - static_cast<double>(expected)) <=
               1e-12 * static_cast<double>(expected);
      },
      [&](Variant v) {
        const bool slow = v == Variant::one_thread || v == Variant::one_block;
        return slow ? Timing{.repeats = 2, .skip = !slow_ones} : Timing{.inner = inner, .note = inner > 1 ? "(in a graph)" : ""};
      });
}

void bench_errors(const GpuFilters& gpu) {
  FilterRow row{.utility = "squared errors, u8", .where = "gpu", .bytes = static_cast<double>(gpu.table().bytes()), .bound = true};
  const DeviceArray<std::uint64_t> errors(gpu.queue(), 3);
  if (gpu.table().wants(row.utility)) {
    const auto a = random_values<std::uint8_t>(gpu.table().bytes() / 2);
    const std::vector<std::uint8_t> b(a.rbegin(), a.rend());
    std::uint64_t expected = 0;
    row.serial_s = seconds_on_cpu(3, [&] { expected = sum_of_squared_errors(a, b, FilterForm::serial); });
    const DeviceArray<std::uint8_t> device_a(gpu.queue(), std::span<const std::uint8_t>(a)), device_b(gpu.queue(), std::span<const std::uint8_t>(b));
    const auto work = [&] { cuda::sum_of_squared_errors(gpu.queue(), device_a.const_span(), device_b.const_span(), errors.data()); };
    work();
    GpuFilters::require(errors.download(gpu.queue())[0] == expected, row.utility, "best");
    gpu.add(row, "best", {}, work);
  }
  // How much longer a frame would take if the encoder used the library's functions for sums and offsets. Its kernels compute
  // these from values in registers.
  constexpr std::size_t kSamples = 1920 * 1080, kSegments = 1020;
  const auto samples = random_values<std::uint8_t>(kSamples);
  const DeviceArray<std::uint8_t> a(gpu.queue(), std::span<const std::uint8_t>(samples)), b(gpu.queue(), kSamples);
  const Timing in_graph{.inner = 50, .note = "(in a graph)"};
  const FilterRow frame{.utility = "squared errors of a 1080p frame", .where = "gpu"};
  if (gpu.table().wants(frame.utility)) {
    gpu.add(frame, "best", in_graph, [&] {
      for (std::size_t p = 0; p < 3; ++p) {
        const std::size_t count = p == 0 ? kSamples : kSamples / 4;
        cuda::sum_of_squared_errors(gpu.queue(), a.const_span().first(count), b.const_span().first(count), errors.data() + p);
      }
    });
  }
  const FilterRow segments{.utility = "bit offsets of 1020 segments", .where = "gpu"};
  if (gpu.table().wants(segments.utility)) {
    const DeviceArray<std::uint32_t> bits(gpu.queue(), kSegments), offsets(gpu.queue(), kSegments);
    gpu.add(segments, "best", in_graph, [&] { cuda::exclusive_scan<std::uint32_t>(gpu.queue(), bits.const_span(), offsets.span()); });
  }
}

void bench_scan(const GpuFilters& gpu, bool inclusive) {
  using Variant = cuda::ScanVariant;
  FilterRow row{.utility = inclusive ? "inclusive scan, int" : "exclusive scan, int", .where = "gpu",
                .bytes = 2.0 * static_cast<double>(gpu.table().bytes()), .bound = true};
  if (!gpu.table().wants(row.utility)) return;
  const std::size_t count = gpu.table().bytes() / sizeof(std::int32_t);
  const auto values = random_values<std::int32_t>(count);
  std::vector<std::int32_t> expected(count);
  row.serial_s = seconds_on_cpu(1, [&] {
    inclusive ? inclusive_scan<std::int32_t>(values, expected, FilterForm::serial)
              : exclusive_scan<std::int32_t>(values, expected, FilterForm::serial);
  });
  const DeviceArray<std::int32_t> in(gpu.queue(), std::span<const std::int32_t>(values)), out(gpu.queue(), count);
  const auto slow = [](Variant v) { return v == Variant::hillis_steele || v == Variant::blelloch || v == Variant::blelloch_padded; };
  const auto some = [&](Variant v) { return slow(v) ? count / 64 : count; };
  gpu.each<Variant>(
      row,
      [&](Variant v) {
        const auto from = in.const_span().first(some(v));
        const auto to = out.span().first(some(v));
        inclusive ? cuda::inclusive_scan<std::int32_t>(gpu.queue(), from, to, v) : cuda::exclusive_scan<std::int32_t>(gpu.queue(), from, to, v);
      },
      [&](Variant v) {
        const auto got = out.download(gpu.queue());
        return std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(some(v)), expected.begin());
      },
      [&](Variant v) {
        return slow(v) ? Timing{.repeats = 3, .part = 1.0 / 64, .note = "(one block, a 64th of the input)"} : Timing{};
      });
}

/// Opens the GPU, measures a copy in its memory, and calls `bench`. Only prints why if no GPU can be used.
void with_gpu(FilterTable& table, const std::function<void(const GpuFilters&)>& bench) {
  if (cuda::devices().state != cuda::DeviceState::usable) {
    std::printf("GPU: %s\n", cuda::devices().reason.c_str());
    return;
  }
  const Options& options = table.options();
  FilterQueue queue(options.device);
  table.set_peer("cub", "CUB " + std::string(cuda::cub_version()));
  std::printf("GPU: %s\n", cuda::require_device(options.device).name.c_str());
  {
    const DeviceArray<std::uint8_t> from(queue, table.bytes()), to(queue, table.bytes());
    const auto copy = [&] { cuda::copy_async(to.data(), from.data(), table.bytes(), queue.stream()); };
    table.add_copy("gpu", measure(timed_on(queue.stream(), copy), options.repeats));
  }
  bench(GpuFilters(table, queue));
}

}  // namespace

void bench_filters_on_gpu(FilterTable& table) {
  with_gpu(table, [](const GpuFilters& gpu) {
    bench_convolution(gpu);
    bench_histogram(gpu);
    bench_product(gpu);
    bench_whitening(gpu);
  });
}

void bench_scans_on_gpu(FilterTable& table) {
  with_gpu(table, [](const GpuFilters& gpu) {
    const std::size_t bytes = gpu.table().bytes();
    bench_sum<float>(gpu, "sum of 512x512 floats", 512 * 512, 1000, true, false);
    bench_sum<float>(gpu, "sum, float", bytes / 4, 1, false, true);
    bench_sum<std::int32_t>(gpu, "sum, int", bytes / 4, 1, false, true);
    bench_sum<std::uint8_t>(gpu, "sum, u8", bytes, 1, false, true);
    bench_errors(gpu);
    bench_scan(gpu, true);
    bench_scan(gpu, false);
  });
}

}  // namespace c63::bench
