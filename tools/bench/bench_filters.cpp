// c63bench filter and c63bench scan: the serial and the fast form of each filter on the CPU, and all its variants on
// the GPU, on the same input. A variant whose result differs from the serial form's ends the run with an error. Matrix
// products, and variants so slow that they get only a part of a histogram's input, are not compared.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "bench/bench.h"
#include "c63/error.h"
#include "c63/filters.h"
#include "c63/thread_pool.h"

#if defined(C63_HAVE_CUDA)
#include "bench/cuda/probes.h"
#include "c63/cuda/devices.h"
#include "c63/cuda/filters.h"
#include "cuda_me/runtime/memory.h"
#endif

namespace c63::bench {
namespace {

/// How a variant is timed on the GPU.
struct Timing {
  int repeats = 0;  ///< 0: as often as the options say
  int inner = 1;    ///< runs in one graph
  double part = 1;  ///< the part of the input that it gets
  std::string note = {};
  bool skip = false;
};

/// One filter on one input.
struct Utility {
  std::string name;     ///< such as "mean of 5, double"
  double bytes = 0;     ///< bytes read plus bytes written
  bool bound = false;   ///< memory limits the filter, so its rate is compared with that of a copy
  double serial_s = 0;  ///< seconds of the CPU's serial form; 0: not timed
};

/// Times filters on the CPU and on the GPU, and reports them. Rows are compared with a copy on the same device, which
/// comes first.
class FilterBench {
 public:
  FilterBench(std::string_view name, const Options& options);

  [[nodiscard]] const Options& options() const { return options_; }
  /// Returns the bytes of input of filters that memory limits.
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(options_.megabytes * 1e6) / 256 * 256; }
  /// Begins a filter. Returns false if it is not wanted.
  [[nodiscard]] bool begin(Utility utility) {
    utility_ = std::move(utility);
    return options_.wants(utility_.name);
  }
  /// Times the serial and the fast form, or, if the filter is heavy, only the fast one. The result that is left is that
  /// of the form with which the GPU is compared: the serial one, unless the filter is heavy. If only the GPU is
  /// measured, times only that form.
  void on_cpu(const std::function<void(FilterForm)>& work, bool is_heavy = false);
  void finish() const { report_.finish(); }

#if defined(C63_HAVE_CUDA)
  /// The GPU's queue; null if nothing is measured on the GPU.
  [[nodiscard]] cuda::FilterQueue* gpu() { return queue_ ? &*queue_ : nullptr; }
  /// Times work on the GPU's queue. It has run before, so that its result could be compared.
  void on_gpu(std::string_view variant, const Timing& how, const std::function<void()>& work) {
    add_gpu(variant,
            measure(timed_on(queue_->stream(), work, how.inner), how.repeats > 0 ? how.repeats : options_.repeats),
            how);
  }
  /// Times each variant on the GPU's queue. Throws Error (comparison) if `same` returns false after a run of it.
  template <typename Variant>
  void variants_on_gpu(
      const std::function<void(Variant)>& work, const std::function<bool(Variant)>& same,
      const std::function<Timing(Variant)>& how = [](Variant) { return Timing{}; }) {
    for (const auto& [name, variant] : cuda::variant_names<Variant>()) {
      const Timing timing = how(variant);
      if (timing.skip) continue;
      const auto once = [&work, v = variant] { work(v); };
      once();
      require(same(variant), name);
      on_gpu(name, timing, once);
    }
  }
  void add_gpu(std::string_view variant, Sample seconds, const Timing& how) {
    Utility utility = utility_;
    utility.bytes *= how.part;
    utility.serial_s *= how.part;
    add(utility, "gpu", variant, seconds, how.note);
  }
  void require(bool same, std::string_view variant) const {
    if (same) return;
    throw Error(ErrorKind::comparison, "C63-BENCH-DIFFERS",
                fmt::format("{}, variant {}: not what the CPU computes", utility_.name, variant));
  }
#endif

 private:
  void add_copy(const std::string& where, Sample seconds);
  void add(const Utility& utility, const std::string& where, std::string_view variant, Sample seconds,
           const std::string& note = {});

  Options options_;
  Report report_;
  Utility utility_;
  std::map<std::string, double> copies_;  ///< bytes per second, by device
#if defined(C63_HAVE_CUDA)
  std::optional<cuda::FilterQueue> queue_;
#endif
};

FilterBench::FilterBench(std::string_view name, const Options& options)
    : options_(options),
      report_(name, options,
              {{"utility", "utility", -34},
               {"where", "where", -6},
               {"variant", "variant", -18},
               {"ms/median", "ms", 11, 5},
               {"times_serial", "x serial", 9, 1},
               {"bytes_per_s", "GB/s", 9, 1, 1e-9},
               {"share_of_copy", "% copy", 7, 1, 100},
               {"peer", "", -1},
               {"note", "", -1}}) {
  report_.about().update({{"threads", options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency())},
                          {"repeats", options.repeats}});
  report_.print_titles();
  if (options.cpu) {
    const std::vector<std::uint8_t> from(bytes(), 1);
    std::vector<std::uint8_t> to(bytes(), 2);
    constexpr std::size_t kPieces = 64;
    const auto copy = [&] {
      parallel_for(kPieces, [&](std::size_t piece) {
        const std::size_t first = from.size() * piece / kPieces;
        std::memcpy(to.data() + first, from.data() + first, from.size() * (piece + 1) / kPieces - first);
      });
    };
    add_copy("cpu", measure(timed(copy), options.repeats));
  }
  if (!options.cuda) return;
#if defined(C63_HAVE_CUDA)
  if (cuda::devices().state != cuda::DeviceState::usable) {
    std::printf("GPU: %s\n", cuda::devices().reason.c_str());
    return;
  }
  queue_.emplace(options.device);
  std::printf("GPU: %s\n", cuda::require_device(options.device).name.c_str());
  const cuda::DeviceArray<std::uint8_t> from(*queue_, bytes()), to(*queue_, bytes());
  const auto copy = [&] { cuda::copy_async(to.data(), from.data(), bytes(), queue_->stream()); };
  add_copy("gpu", measure(timed_on(queue_->stream(), copy), options.repeats));
#else
  std::puts("GPU: this c63 was built without CUDA");
#endif
}

void FilterBench::on_cpu(const std::function<void(FilterForm)>& work, bool is_heavy) {
  const int few = options_.cpu ? std::min(options_.repeats, 3) : 1;
  const auto seconds_of = [&](FilterForm form, int repeats) { return measure(timed([&] { work(form); }), repeats); };
  std::optional<Sample> fast;
  std::optional<Sample> serial;
  if (options_.cpu || is_heavy) fast = seconds_of(FilterForm::fast, is_heavy ? few : options_.repeats);
  if (!is_heavy) serial = seconds_of(FilterForm::serial, few);
  if (serial) utility_.serial_s = serial->median;
  if (options_.cpu && serial) add(utility_, "cpu", "serial", *serial);
  if (options_.cpu) add(utility_, "cpu", "fast", *fast);
}

void FilterBench::add_copy(const std::string& where, Sample seconds) {
  const Utility copy{.name = "copy (read + write)", .bytes = 2.0 * static_cast<double>(bytes())};
  add(copy, where, "", seconds);
  copies_[where] = copy.bytes / seconds.median;
}

void FilterBench::add(const Utility& utility, const std::string& where, std::string_view variant, Sample seconds,
                      const std::string& note) {
  Json row = {{"utility", utility.name},
              {"where", where},
              {"variant", variant},
              {"bytes", utility.bytes},
              {"ms", seconds.times(1e3)}};
  const double rate = utility.bytes / seconds.median;
  if (utility.bytes > 0) row["bytes_per_s"] = rate;
  if (utility.serial_s > 0) row["times_serial"] = utility.serial_s / seconds.median;
  if (utility.bound) row["share_of_copy"] = rate / copies_.at(where);
#if defined(C63_HAVE_CUDA)
  if (variant == "cub") row["peer"] = "CUB " + std::string(cuda::cub_version());
#endif
  if (!note.empty()) row["note"] = note;
  report_.add(std::move(row));
}

/// Returns random whole numbers in 0..255, the same on every machine.
template <typename T>
std::vector<T> random_values(std::size_t count) {
  std::vector<T> values(count);
  std::uint32_t state = 1;
  for (T& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<T>(state >> 24);
  }
  return values;
}

/// Returns bytes for timing histograms: random, slowly changing levels with a little noise (video), or with nine of ten
/// bytes equal (skewed).
std::vector<std::uint8_t> bytes_of(std::string_view content, std::size_t count) {
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

void bench_mean(FilterBench& bench) {
  if (!bench.begin({.name = "mean of 5, double", .bytes = 2.0 * static_cast<double>(bench.bytes()), .bound = true}))
    return;
  const auto signal = random_values<double>(bench.bytes() / sizeof(double));
  std::vector<double> means(signal.size());
  bench.on_cpu([&](FilterForm form) { mean_filter(signal, 5, means, form); });
#if defined(C63_HAVE_CUDA)
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  const cuda::DeviceArray<double> in(queue, std::span<const double>(signal)), out(queue, signal.size());
  bench.variants_on_gpu<cuda::ConvolutionVariant>(
      [&](auto v) { cuda::mean_filter(queue, in.const_span(), 5, out.span(), v); },
      [&](auto) { return out.download(queue) == means; });
#endif
}

void bench_picture(FilterBench& bench, const std::string& name, int width, int height, const ByteKernel& kernel,
                   bool is_heavy) {
  const auto samples = random_values<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (!bench.begin({.name = name, .bytes = 2.0 * static_cast<double>(samples.size())})) return;
  std::vector<std::uint8_t> out(samples.size());
  const auto picture = [&]<typename Sample>(Sample* data) {
    return BasicPlaneView<Sample>{data, width, height, width};
  };
  bench.on_cpu([&](FilterForm form) { convolve(picture(samples.data()), kernel, picture(out.data()), form); },
               is_heavy);
#if defined(C63_HAVE_CUDA)
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  const cuda::DeviceArray<std::uint8_t> from(queue, std::span<const std::uint8_t>(samples)), to(queue, samples.size());
  bench.variants_on_gpu<cuda::Convolution2dVariant>(
      [&](auto v) { cuda::convolve(queue, picture(std::as_const(from).data()), kernel, picture(to.data()), v); },
      [&](auto) { return to.download(queue) == out; });
#endif
}

void bench_histogram(FilterBench& bench, const std::string& content) {
  const std::size_t count = bench.bytes();
  if (!bench.begin({.name = "histogram, u8 " + content, .bytes = static_cast<double>(count), .bound = true})) return;
  const auto values = bytes_of(content, count);
  std::vector<std::uint64_t> counts(256);
  bench.on_cpu([&](FilterForm form) { histogram(values, BinMap::identity(), counts, form); });
#if defined(C63_HAVE_CUDA)
  using Variant = cuda::HistogramVariant;
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  const cuda::DeviceArray<std::uint8_t> in(queue, std::span<const std::uint8_t>(values));
  const cuda::DeviceArray<std::uint64_t> found(queue, counts.size());
  const auto slow = [](Variant v) { return v == Variant::sections || v == Variant::interleaved; };
  bench.variants_on_gpu<Variant>(
      [&](Variant v) {
        cuda::histogram(queue, slow(v) ? in.const_span().first(count / 16) : in.const_span(), BinMap::identity(),
                        found.span(), v);
      },
      [&](Variant v) { return slow(v) || found.download(queue) == counts; },
      [&](Variant v) {
        return slow(v) ? Timing{.repeats = 2, .part = 1.0 / 16, .note = "(a sixteenth of the input)"}
                       : Timing{.note = v == Variant::cub ? "(32-bit counters)" : ""};
      });
#endif
}

void bench_product(FilterBench& bench, int side) {
  if (!bench.begin({.name = fmt::format("matrix product {}", side)})) return;
  const auto values = random_values<float>(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  std::vector<float> product(values.size());
  const auto matrix = [&]<typename Sample>(Sample* data) { return BasicPlaneView<Sample>{data, side, side, side}; };
  bench.on_cpu(
      [&](FilterForm form) { multiply(matrix(values.data()), matrix(values.data()), matrix(product.data()), form); },
      side > 1024);
#if defined(C63_HAVE_CUDA)
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  const cuda::DeviceArray<float> a(queue, std::span<const float>(values)), c(queue, values.size());
  const BasicPlaneView<const float> in = matrix(static_cast<const float*>(a.data()));
  bench.variants_on_gpu<cuda::ProductVariant>(
      [&](auto v) { cuda::multiply(queue, in, in, matrix(c.data()), v); }, [](auto) { return true; },
      [&](auto) { return Timing{.repeats = std::min(bench.options().repeats, 5)}; });
#endif
}

/// Times the shifts of 20 frames against another one, and whitening by these frames.
void bench_whitening(FilterBench& bench) {
  constexpr int kSide = 512;
  constexpr std::size_t kHistory = 20;
  constexpr std::size_t kSamples = std::size_t{kSide} * kSide;
  const auto samples = random_values<std::uint8_t>((kHistory + 1) * kSamples);
  const auto views_of = [](const std::uint8_t* data) {
    std::vector<ConstPlaneView> views;
    for (std::size_t k = 0; k <= kHistory; ++k) views.push_back({data + k * kSamples, kSide, kSide, kSide});
    return views;
  };
  const std::vector<ConstPlaneView> frames = views_of(samples.data());
  const std::span<const ConstPlaneView> history = std::span(frames).subspan(1);
#if defined(C63_HAVE_CUDA)
  std::optional<cuda::DeviceArray<std::uint8_t>> device;
  if (bench.gpu()) device.emplace(*bench.gpu(), std::span<const std::uint8_t>(samples));
  const std::vector<ConstPlaneView> there = views_of(device ? device->data() : nullptr);
  const std::span<const ConstPlaneView> history_there = std::span(there).subspan(1);
#endif
  if (bench.begin({.name = "shifts of 20 frames, 512x512"})) {
    std::vector<ShiftSums> expected(kHistory);
    bench.on_cpu([&](FilterForm form) {
      const ShiftReference<std::uint8_t> reference(frames[0], form);
      for (std::size_t k = 0; k < kHistory; ++k) expected[k] = reference.sums_of(history[k]);
    });
#if defined(C63_HAVE_CUDA)
    std::vector<ShiftSums> sums(kHistory);
    for (const auto& [name, variant] : cuda::variant_names<cuda::ShiftVariant>()) {
      if (!bench.gpu()) break;
      const auto work = [&, v = variant] { cuda::shift_sums(*bench.gpu(), there[0], history_there, sums, v); };
      const Sample seconds =
          measure(timed(work), bench.options().repeats * 4);  // a graph cannot hold what the host does
      bench.require(
          std::ranges::equal(sums, expected, [](const auto& a, const auto& b) { return a.p == b.p && a.q == b.q; }),
          name);
      bench.add_gpu(name, seconds, {.note = "(to the sums on the host)"});
    }
#endif
  }
  for (const auto& [method, name] :
       {std::pair{WhiteningMethod::shift, "shift"}, {WhiteningMethod::correlation, "corr."}}) {
    for (const bool reject : {false, true}) {
      if (!bench.begin({.name = fmt::format("whitening 512x512, 20, {}{}", name, reject ? ", reject" : "")})) continue;
      WhiteningSettings settings;
      settings.method = method;
      if (reject) settings.reject = 3;
      std::vector<float> expected(kSamples);
      bench.on_cpu([&](FilterForm form) {
        const ShiftReference<std::uint8_t> reference(frames[0], form);
        whiten<std::uint8_t>(reference, frames[0], history, settings, {expected.data(), kSide, kSide, kSide}, form);
      });
#if defined(C63_HAVE_CUDA)
      if (!bench.gpu()) continue;
      cuda::WhiteningEngine engine(*bench.gpu(), there[0], settings);
      const cuda::DeviceArray<float> out(*bench.gpu(), kSamples);
      const auto work = [&] { engine.whiten(there[0], history_there, {out.data(), kSide, kSide, kSide}); };
      work();
      engine.finish();
      bench.require(std::ranges::equal(out.download(*bench.gpu()), expected,
                                       [](float a, float b) { return std::abs(a - b) < 0.01F; }),
                    "best");
      bench.on_gpu("resident, graph", {.inner = 50, .note = "(shifts, weights, output)"}, work);
#endif
    }
  }
}

/// If a sum takes less time than launching its kernels, it is `small`: it runs 1000 times in a graph, and slow variants
/// are timed, too.
template <typename T>
void bench_sum(FilterBench& bench, const std::string& name, std::size_t count, bool small = false) {
  if (!bench.begin({.name = name, .bytes = static_cast<double>(count * sizeof(T)), .bound = !small})) return;
  const auto values = random_values<T>(count);
  SumOf<T> expected{};
  bench.on_cpu([&](FilterForm form) { expected = sum<T>(values, form); });
#if defined(C63_HAVE_CUDA)
  using Variant = cuda::ReductionVariant;
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  const cuda::DeviceArray<T> in(queue, std::span<const T>(values));
  const cuda::DeviceArray<SumOf<T>> result(queue, 1);
  bench.variants_on_gpu<Variant>(
      [&](Variant v) { cuda::sum<T>(queue, in.const_span(), result.data(), v); },
      [&](Variant) {
        return std::abs(static_cast<double>(result.download(queue)[0]) - static_cast<double>(expected)) <=
               1e-12 * static_cast<double>(expected);
      },
      [&](Variant v) {
        const bool slow = v == Variant::one_thread || v == Variant::one_block;
        return slow    ? Timing{.repeats = 2, .skip = !small}
               : small ? Timing{.inner = 1000, .note = "(in a graph)"}
                       : Timing{};
      });
#endif
}

void bench_errors(FilterBench& bench) {
  if (!bench.begin({.name = "squared errors, u8", .bytes = static_cast<double>(bench.bytes()), .bound = true})) return;
  const auto a = random_values<std::uint8_t>(bench.bytes() / 2);
  const std::vector<std::uint8_t> b(a.rbegin(), a.rend());
  std::uint64_t expected = 0;
  bench.on_cpu([&](FilterForm form) { expected = sum_of_squared_errors(a, b, form); });
#if defined(C63_HAVE_CUDA)
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  const cuda::DeviceArray<std::uint8_t> there_a(queue, std::span<const std::uint8_t>(a)),
      there_b(queue, std::span<const std::uint8_t>(b));
  const cuda::DeviceArray<std::uint64_t> errors(queue, 1);
  const auto work = [&] {
    cuda::sum_of_squared_errors(queue, there_a.const_span(), there_b.const_span(), errors.data());
  };
  work();
  bench.require(errors.download(queue)[0] == expected, "best");
  bench.on_gpu("best", {}, work);
#endif
}

#if defined(C63_HAVE_CUDA)
/// Times how much longer a frame would take if the encoder used the library's functions for sums and offsets. Its
/// kernels compute these from values in registers.
void bench_frame_on_gpu(FilterBench& bench) {
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  constexpr std::size_t kSamples = 1920 * 1080, kSegments = 1020;
  const Timing in_graph{.inner = 50, .note = "(in a graph)"};
  if (bench.begin({.name = "squared errors of a 1080p frame"})) {
    const cuda::DeviceArray<std::uint8_t> a(queue, random_values<std::uint8_t>(kSamples)), b(queue, kSamples);
    const cuda::DeviceArray<std::uint64_t> errors(queue, 3);
    bench.on_gpu("best", in_graph, [&] {
      for (std::size_t p = 0; p < 3; ++p) {
        const std::size_t count = p == 0 ? kSamples : kSamples / 4;
        cuda::sum_of_squared_errors(queue, a.const_span().first(count), b.const_span().first(count), errors.data() + p);
      }
    });
  }
  if (bench.begin({.name = "bit offsets of 1020 segments"})) {
    const cuda::DeviceArray<std::uint32_t> bits(queue, kSegments), offsets(queue, kSegments);
    bench.on_gpu("best", in_graph,
                 [&] { cuda::exclusive_scan<std::uint32_t>(queue, bits.const_span(), offsets.span()); });
  }
}
#endif

/// Times what the GPU has only for signals of c63filter.
void bench_extremes(FilterBench& bench) {
  if (!bench.options().cpu) return;
  const auto values = random_values<float>(bench.bytes() / sizeof(float));
  const auto bytes = static_cast<double>(bench.bytes());
  double result = 0;
  if (bench.begin({"maximum, float", bytes, true}))
    bench.on_cpu([&](FilterForm form) { result = maximum<float>(values, form); });
  if (!bench.begin({"place of minimum, float", bytes, true})) return;
  bench.on_cpu([&](FilterForm form) { result = static_cast<double>(argmin<float>(values, form)); });
}

void bench_scan(FilterBench& bench, bool inclusive) {
  const std::string name = inclusive ? "inclusive scan, int" : "exclusive scan, int";
  if (!bench.begin({.name = name, .bytes = 2.0 * static_cast<double>(bench.bytes()), .bound = true})) return;
  const std::size_t count = bench.bytes() / sizeof(std::int32_t);
  const auto values = random_values<std::int32_t>(count);
  std::vector<std::int32_t> expected(count);
  bench.on_cpu([&](FilterForm form) {
    inclusive ? inclusive_scan<std::int32_t>(values, expected, form)
              : exclusive_scan<std::int32_t>(values, expected, form);
  });
#if defined(C63_HAVE_CUDA)
  using Variant = cuda::ScanVariant;
  if (!bench.gpu()) return;
  cuda::FilterQueue& queue = *bench.gpu();
  const cuda::DeviceArray<std::int32_t> in(queue, std::span<const std::int32_t>(values)), out(queue, count);
  const auto slow = [](Variant v) {
    return v == Variant::hillis_steele || v == Variant::blelloch || v == Variant::blelloch_padded;
  };
  const auto some = [&](Variant v) { return slow(v) ? count / 64 : count; };
  bench.variants_on_gpu<Variant>(
      [&](Variant v) {
        const auto from = in.const_span().first(some(v));
        const auto to = out.span().first(some(v));
        inclusive ? cuda::inclusive_scan<std::int32_t>(queue, from, to, v)
                  : cuda::exclusive_scan<std::int32_t>(queue, from, to, v);
      },
      [&](Variant v) {
        const auto got = out.download(queue);
        return std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(some(v)), expected.begin());
      },
      [&](Variant v) {
        return slow(v) ? Timing{.repeats = 3, .part = 1.0 / 64, .note = "(one block, a 64th of the input)"} : Timing{};
      });
#endif
}

}  // namespace

void bench_filters(const Options& options) {
  ThreadPool(options.threads).execute([&] {
    FilterBench bench("filter", options);
    bench_mean(bench);
    bench_picture(bench, "gauss 1.5, 1080p u8", 1920, 1080, gauss_kernel(1.5), false);
    for (const int size : {3, 9, 31})
      bench_picture(bench, fmt::format("2-D mean {}x{}, 2160p u8", size, size), 3840, 2160, mean_kernel(size), true);
    for (const char* content : {"random", "video", "skewed"}) bench_histogram(bench, content);
    for (const int side : {512, 2048}) bench_product(bench, side);
    bench_whitening(bench);
    bench.finish();
  });
}

void bench_scans(const Options& options) {
  ThreadPool(options.threads).execute([&] {
    FilterBench bench("scan", options);
    bench_sum<float>(bench, "sum of 512x512 floats", 512 * 512, true);
    bench_sum<float>(bench, "sum, float", bench.bytes() / sizeof(float));
    bench_sum<std::int32_t>(bench, "sum, int", bench.bytes() / sizeof(std::int32_t));
    bench_sum<std::uint8_t>(bench, "sum, u8", bench.bytes());
    bench_errors(bench);
#if defined(C63_HAVE_CUDA)
    bench_frame_on_gpu(bench);
#endif
    bench_extremes(bench);
    bench_scan(bench, true);
    bench_scan(bench, false);
    bench.finish();
  });
}

}  // namespace c63::bench
