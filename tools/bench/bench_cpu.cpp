// c63bench cpu: times the CPU kernels of every instruction set of this machine, and compares them with ceilings measured
// in the same run. Kernels of decisions are not timed. With --search, it races users' searches instead (race_cpu.h).

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "bench/bench.h"
#include "bench/cpu_probe.h"
#include "bench/race_files.h"
#include "bench/video.h"
#include "bitstream/entropy_decoder.h"
#include "bitstream/entropy_encoder.h"
#include "bitstream/frame_header.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "cpu/block_prediction.h"
#include "cpu/frame_coder.h"
#include "cpu/plane_search.h"
#include "cpu/kernels.h"

namespace c63::bench {
namespace {

/// Kernels' results are written to `sink`, so that the compiler cannot remove the code that computes them.
volatile std::uint64_t sink;

/// A kernel to time. One run does `amount` units of work.
struct Kernel {
  std::string name;
  std::string level;
  std::string unit;
  double amount = 0;
  std::function<void()> run;
  std::optional<Limit> limit = {};  ///< the machine's limit that bounds the kernel
  double limit_per_unit = 1;        ///< operations of the limit's kind, such as bytes loaded, that one unit of work takes
  std::string note = {};            ///< why the kernel may be faster than its ceiling
};

/// Names of work, in the order of Limit.
constexpr std::array<const char*, 4> kUnits = {"absdiff", "byte read", "flop", "code"};
const char* unit_of(Limit limit) { return kUnits[static_cast<std::size_t>(limit)]; }

/// The inputs of the kernels for one inter frame. It is the third frame that is coded, so that it has a real reference
/// and vectors of the frame before.
struct Scene {
  explicit Scene(const Options& options) : geometry(options.width, options.height) {
    constexpr int kFrames = 3;
    const auto video = frames_of(options.yuv, options.width, options.height, kFrames, options.first_frame);
    if (video.size() < kFrames * geometry.frame_bytes()) {
      throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "has fewer frames than --frame asks for", {.file = options.yuv});
    }
    settings.coding.width = options.width;
    settings.coding.height = options.height;
    reference = cpu::PaddedPicture(geometry);
    current = cpu::PaddedPicture(geometry);
    cpu::FrameCoder coder(settings.coding, cpu::kernels());
    FramePlan plan;
    plan.tables = make_quantization_tables(settings.coding.qp);
    syntax = FrameSyntax(geometry);
    vectors = previous = PredictionVectors(geometry);
    reconstruction = cpu::PaddedPicture(geometry);
    for (int f = 0; f < kFrames; ++f) {
      std::swap(reference, reconstruction);
      std::swap(previous, vectors);
      std::ranges::copy(
          std::span(video).subspan(static_cast<std::size_t>(f) * geometry.frame_bytes(), geometry.frame_bytes()),
          current.input().begin());
      current.lay_out();
      plan.key = f == 0;
      const cpu::FrameJob job{.plan = &plan,
                              .current = &current,
                              .reference = &reference,
                              .reconstruction = &reconstruction,
                              .syntax = &syntax,
                              .vectors = &vectors,
                              .before = &previous};
      syntax.key = plan.key;
      coder.begin(job);
      for (int row = 0; !plan.key && row < geometry.mcu_rows(); ++row) coder.prepare_row(row);
      if (!plan.key) coder.prepare();
      for (int row = 0; row < geometry.mcu_rows(); ++row) {
        if (!plan.key) (void)coder.search_row(row);
        coder.code_row(row);
      }
    }
  }

  [[nodiscard]] PlaneGeometry luma() const { return geometry.plane(0); }
  [[nodiscard]] ConstPlaneView current_luma() const { return current.plane(0); }
  [[nodiscard]] ConstPlaneView reference_luma() const { return reference.plane(0); }
  [[nodiscard]] int range() const { return settings.coding.search_range; }

  /// Calls visit(x, y) with the corner of each luma block.
  template <typename Visit>
  void for_each_luma_block(const Visit& visit) const {
    for (int y = 0; y < luma().height; y += kBlockSize) {
      for (int x = 0; x < luma().width; x += kBlockSize) visit(x, y);
    }
  }

  Geometry geometry;
  EncoderSettings settings;
  cpu::PaddedPicture current;
  cpu::PaddedPicture reference;
  cpu::PaddedPicture reconstruction;
  FrameSyntax syntax;
  PredictionVectors vectors;
  PredictionVectors previous;
};

void add_kernel_cases(std::vector<Kernel>& cases, const Scene& scene, SimdLevel level, double candidates) {
  const cpu::Kernels& k = cpu::kernels(level);
  const PlaneGeometry g = scene.luma();
  const ConstPlaneView current = scene.current_luma();
  const ConstPlaneView reference = scene.reference_luma();
  const auto samples = static_cast<double>(g.samples());
  const auto add = [&](std::string what, const char* unit, double amount, std::function<void()> run,
                       Limit limit = Limit::absolute_differences, double limit_per_unit = 1, std::string note = {}) {
    cases.push_back({std::move(what), std::string(name(level)), unit, amount, std::move(run), limit, limit_per_unit,
                     std::move(note)});
  };
  for (const SearchMethod method : {SearchMethod::full_brute, SearchMethod::full_eliminate}) {
    const auto search = std::make_shared<cpu::PlaneSearch>(cpu::make_block_searcher(method, k, g, scene.range()), k, g,
                                                           2, scene.range());
    const auto run = [current, reference, search, rows = scene.geometry.mcu_rows()] {
      search->begin(current, reference, nullptr);
      search->prepare_rows(0, current.height);
      search->prepare();
      std::uint64_t total = 0;
      for (int row = 0; row < rows; ++row) total += search->search_mcu_row(row);
      sink = total;
    };
    add("search " + std::string(name(method)), "absdiff", candidates * g.blocks() * 64, run,
        Limit::absolute_differences, 1,
        method == SearchMethod::full_eliminate
            ? "the differences of all candidates are counted; those of candidates that cannot win are not computed"
            : "");
  }
  // Times the kernel on blocks with a whole search window, away from the picture's edges.
  const int full = 2 * scene.range();
  const auto for_each_whole = [&scene, g, full](const auto& visit) {
    scene.for_each_luma_block([&](int x, int y) {
      const SearchWindow w = search_window(x / kBlockSize, y / kBlockSize, g.width, g.height, scene.range());
      if (w.right - w.left == full && w.bottom - w.top == full) visit(x, y, w);
    });
  };
  double whole = 0;
  for_each_whole([&](int, int, const SearchWindow&) { ++whole; });
  add("search interior", "absdiff", whole * full * full * 64, [&k, g, current, reference, for_each_whole] {
    std::uint64_t total = 0;
    for_each_whole([&](int x, int y, const SearchWindow& w) {
      std::uint32_t key = 0;
      const cpu::BlockSearch block{.window = w,
                                   .own = {x, y},
                                   .current = &current.at(x, y),
                                   .current_pitch = g.width,
                                   .reference = reference,
                                   .keys = &key};
      k.search({&block, 1}, {}, nullptr, 1);
      total += key >> 16;
    });
    sink = total;
  });
  add("sad", "absdiff", samples, [&scene, &k, g, current, reference] {
    std::uint64_t total = 0;
    scene.for_each_luma_block(
        [&](int x, int y) { total += k.sad(&current.at(x, y), g.width, &reference.at(x, y), g.width); });
    sink = total;
  });
  const auto sums = std::make_shared<std::vector<std::uint8_t>>(g.samples());
  add(
      "sums", "byte", samples,
      [&k, g, reference, sums] {
        k.quarter_sums(reference.row(0), g.width, g.width - 3, g.height - 3, sums->data(), g.width);
      },
      Limit::loads);
  // Operations per sample. The transform of a block is two passes. Each pass computes 64 outputs, and each output takes
  // eight products and eight additions.
  constexpr double kTransformOperations = 2.0 * 64 * 16 / 64;
  const auto table = std::make_shared<cpu::TransformTable>(make_quantization_tables(25)[0], 0);
  const auto levels = std::make_shared<std::vector<std::int16_t>>(g.samples());
  const auto for_each_run = [&scene](auto&& visit) {
    for (int row = 0; row < scene.geometry.mcu_rows(); ++row) {
      cpu::for_each_run_of_mcu_row(scene.luma(), scene.vectors, 0, row, scene.reference, nullptr, visit);
    }
  };
  add(
      "transform_quantize", "byte", samples,
      [&k, g, current, table, levels, for_each_run] {
        for_each_run([&](int block, int column, int row, std::span<const cpu::BlockPrediction> predictions) {
          k.transform_quantize(&current.at(8 * column, 8 * row), g.width, predictions, *table,
                               levels->data() + 64 * block);
        });
      },
      Limit::float_operations, kTransformOperations);
  const auto out = std::make_shared<cpu::PaddedPicture>(scene.geometry);
  add(
      "dequantize_reconstruct", "byte", samples,
      [&scene, &k, g, table, out, for_each_run] {
        for_each_run([&](int block, int column, int row, std::span<const cpu::BlockPrediction> predictions) {
          k.dequantize_reconstruct(scene.syntax.planes[0].block(block), *table, predictions,
                                   &out->plane(0).at(8 * column, 8 * row), g.width);
        });
      },
      Limit::float_operations, kTransformOperations);
  const auto ssim = std::make_shared<std::vector<cpu::SsimSums>>(static_cast<std::size_t>(g.width / 4));
  add(
      "ssim_sums", "byte", samples,
      [&k, g, current, reference, ssim] {
        for (int y = 0; y + 4 <= g.height; y += 4) {
          k.ssim_sums(current.row(y), g.width, reference.row(y), g.width, g.width / 4, ssim->data());
        }
      },
      Limit::loads, 2);
}

/// Returns the number of codes in the scan of a frame.
double codes_in(const FrameSyntax& syntax) {
  double codes = 0;
  for (const PlaneSyntax& plane : syntax.planes) {
    for (int block = 0; block < plane.geometry.blocks(); ++block) {
      const bool repeats_left = block % plane.geometry.columns > 0 && plane.uses_vector[block - 1] != 0 &&
                                plane.vectors[block] == plane.vectors[block - 1];
      codes += plane.uses_vector[block] != 0 && !repeats_left ? 2 : 0;
      const std::int16_t* const levels = plane.block(block);
      int last = 0;
      for (int k = 1; k < kBlockSamples; ++k) {
        if (levels[k] == 0) continue;
        codes += 1 + (k - last - 1) / 16;
        last = k;
      }
      codes += last < kBlockSamples - 1 ? 2 : 1;  // the DC code, and an end-of-block code if the last level is zero
    }
  }
  return codes;
}

void add_entropy_cases(std::vector<Kernel>& cases, const Scene& scene) {
  const auto bytes = std::make_shared<std::vector<std::uint8_t>>();
  const auto write = [&scene](std::vector<std::uint8_t>& out) {
    BitCounts bits;
    out.clear();
    write_frame_header(out, scene.geometry, make_quantization_tables(25), false);
    encode_scan(scene.syntax, out, bits);
    write_frame_trailer(out);
  };
  write(*bytes);
  const auto samples = static_cast<double>(scene.geometry.padded_samples());
  cases.push_back({"entropy encode", "all", "byte", samples, [bytes, write] { write(*bytes); }});
  const auto stream = std::make_shared<std::vector<std::uint8_t>>(*bytes);
  ParsedFrame frame;
  frame.geometry = scene.geometry;
  frame.scan_offset = kFrameHeaderBytes;
  frame.scan = std::span<const std::uint8_t>(*stream).subspan(kFrameHeaderBytes);
  frame.scan = frame.scan.first(frame.scan.size() - kFrameTrailerBytes);
  const auto syntax = std::make_shared<FrameSyntax>(scene.geometry);
  const auto scratch = std::make_shared<std::vector<std::uint8_t>>();
  cases.push_back({"entropy decode", "all", "byte", samples,
                   [stream, frame, syntax, scratch] { decode_scan(frame, *syntax, *scratch); }, Limit::codes,
                   codes_in(scene.syntax) / samples});
}

}  // namespace

void bench_cpu(const Options& options) {
  if (!options.files.empty()) return race_cpu_files(options);
  const Scene scene(options);
  const PlaneGeometry luma = scene.luma();
  const double candidates = count_candidates(luma.width, luma.height, scene.range()) / luma.blocks();

  constexpr double kClocks = 400000;
  std::vector<Kernel> kernels;
  kernels.push_back({"clock", "-", "cycle", kClocks, [] { run_clock(static_cast<std::uint64_t>(kClocks)); }});
  const std::vector<CeilingProbe> probes = ceiling_probes({scene.reference_luma().data, luma.samples()});
  for (const CeilingProbe& probe : probes) {
    kernels.push_back({probe.name, "ceiling", unit_of(probe.limit), probe.amount, probe.run, probe.limit});
  }
  for (const SimdLevel level : available_simd_levels()) add_kernel_cases(kernels, scene, level, candidates);
  add_entropy_cases(kernels, scene);
  std::erase_if(kernels, [&](const Kernel& c) { return !options.wants(c.name + " " + c.level) && c.level != "ceiling" && c.level != "-"; });

  std::vector<Case> cases;
  // Scalar kernels take long, and serve only for comparison.
  for (const Kernel& k : kernels) cases.push_back({{{"kernel", k.name}, {"level", k.level}, {"unit", k.unit}}, timed(k.run), k.level == "scalar" ? 3 : INT_MAX});
  const std::vector<Sample> seconds = measure(cases, options.repeats);
  const double hertz = kClocks / seconds.front().low;
  const auto per_clock = [&](std::size_t i) { return seconds[i].rate(kernels[i].amount / hertz); };

  // A kernel's ceiling is the fastest probe among those of its instruction set and of lower ones. The probe of the lowest
  // set that has one always counts, so that scalar kernels have a ceiling, too.
  const auto ceiling_of = [&](Limit limit, std::string_view level) {
    double ceiling = 0;
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const CeilingProbe& probe = probes[i];
      const bool narrowest = std::ranges::none_of(
          probes, [&](const CeilingProbe& other) { return other.limit == limit && other.level < probe.level; });
      const bool has = std::ranges::any_of(available_simd_levels(),
                                           [&](SimdLevel l) { return name(l) == level && l >= probe.level; });
      if (probe.limit == limit && (narrowest || has)) ceiling = std::max(ceiling, per_clock(i + 1).median);
    }
    return ceiling;
  };
  Report report("cpu", options, {{"kernel", "kernel", -22}, {"level", "level", -8}, {"us/median", "us a run", 10, 1},
                                 {"per_clock/median", "per clock", 10, 2}, {"per_clock/p10", "10 %", 8, 2}, {"per_clock/p90", "90 %", 8, 2},
                                 {"unit", "unit", -8}, {"share_of_ceiling", "of ceiling", 10, 1, 100, " %"}, {"note", "", -1}});
  report.about().update({{"clock_ghz", hertz / 1e9},
                         {"video", options.yuv.empty() ? "generated" : options.yuv.substr(options.yuv.rfind('/') + 1)},
                         {"size", std::to_string(options.width) + "x" + std::to_string(options.height)},
                         {"candidates_per_block", {{"all", candidates}}}});
  report.print_titles();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Kernel& k = kernels[i];
    Json row = cases[i].labels;
    row.update({{"per_clock", per_clock(i)}, {"us", seconds[i].times(1e6)}});
    const double ceiling = k.limit && k.level != "ceiling" ? ceiling_of(*k.limit, k.level) : 0;
    if (ceiling > 0) {
      const double share = per_clock(i).median * k.limit_per_unit / ceiling;
      row["share_of_ceiling"] = share;
      row["ceiling"] = unit_of(*k.limit);
      if (!k.note.empty()) row["note"] = k.note;
      else if (share > 1) row["note"] = "the ceiling is a loop with one addition an instruction; the kernel needs fewer";
    }
    report.add(std::move(row));
  }
  report.finish();
}

}  // namespace c63::bench
