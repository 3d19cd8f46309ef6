// c63bench stages: the time per block of each stage of an encode on one thread, for each preset. Kernels are timed by a
// kernel table whose entries time each call. The whole encode is timed without that table, by the thread's CPU time.

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/cpu_probe.h"
#include "bench/figures.h"
#include "c63/error.h"
#include "cpu/gop_chain.h"
#include "cpu/search_method.h"
#include "decide/planner.h"

namespace c63::bench {
namespace {

/// Returns a time stamp in ticks: of the time-stamp counter on x86-64, whose reading takes few cycles; elsewhere, of the
/// steady clock. Cycle measures how many ticks a clock cycle has.
std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

enum Stage : std::size_t { kSums, kSearch, kSad, kTransform, kLevels, kWriting, kCosts, kBeam, kReconstruct, kStages };
constexpr std::array<const char*, kStages> kNames = {"sums of 4x4", "search", "SAD of left vector", "transform",
                                                     "levels",      "writing levels", "costs",      "beam",     "reconstruct"};

struct StageTime {
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;
};

/// A call that takes this many ticks or more was interrupted. Its time is left out.
constexpr std::uint64_t kInterrupted = 1 << 16;

/// The results of the timed kernels, and the kernels that these call. They are global, because entries of a kernel table are
/// plain functions. They need no lock, because only one thread encodes.
std::array<StageTime, kStages> times;
cpu::Kernels plain;
cpu::DecisionKernels plain_decisions;

class Stopwatch {
 public:
  explicit Stopwatch(Stage stage) : stage_(stage) {}
  ~Stopwatch() {
    const std::uint64_t spent = ticks() - start_;
    times[stage_].ticks += spent < kInterrupted ? spent : 0;
    ++times[stage_].calls;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Stage stage_;
  std::uint64_t start_ = ticks();
};

/// Wraps a kernel of a table: run() times it and calls it.
template <Stage kStage, auto& kTable, auto kMember>
struct Timed;
template <Stage kStage, auto& kTable, typename Table, typename Result, typename... Arguments,
          Result (*Table::*kMember)(Arguments...)>
struct Timed<kStage, kTable, kMember> {
  static Result run(Arguments... arguments) {
    const Stopwatch watch(kStage);
    return (kTable.*kMember)(arguments...);
  }
};
template <Stage kStage, auto kMember>
constexpr auto timed_kernel = &Timed<kStage, plain, kMember>::run;
template <Stage kStage, auto kMember>
constexpr auto timed_decision = &Timed<kStage, plain_decisions, kMember>::run;

const cpu::DecisionKernels& timed_decisions() {
  using Table = cpu::DecisionKernels;
  static constexpr Table kTimed{timed_decision<kTransform, &Table::transform_blocks>,
                                timed_decision<kLevels, &Table::choose_levels>, timed_decision<kWriting, &Table::write_levels>,
                                timed_decision<kCosts, &Table::cost_candidate>, timed_decision<kBeam, &Table::extend_beam>,
                                timed_decision<kBeam, &Table::extend_narrow>};
  return kTimed;
}

/// Returns a table whose kernels are timed, except ssim_sums().
cpu::Kernels timed(const cpu::Kernels& kernels) {
  using Table = cpu::Kernels;
  plain = kernels;
  plain_decisions = kernels.decisions();
  return {kernels.level,
          timed_kernel<kSad, &Table::sad>,
          timed_kernel<kSearch, &Table::search>,
          timed_kernel<kSums, &Table::quarter_sums>,
          timed_kernel<kTransform, &Table::transform_quantize>,
          timed_kernel<kReconstruct, &Table::dequantize_reconstruct>,
          kernels.ssim_sums,
          timed_decisions};
}

/// Returns the frames of a video as the encoder stores them.
std::vector<cpu::PaddedPicture> read_pictures(const StageBenchOptions& options, const Geometry& geometry) {
  std::vector<cpu::PaddedPicture> pictures;
  std::ifstream file(options.yuv, std::ios::binary);
  for (int f = 0; f < options.frames; ++f) {
    cpu::PaddedPicture& picture = pictures.emplace_back(geometry);
    const auto input = picture.input();
    file.read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(input.size()));
    picture.lay_out();
  }
  if (!file)
    throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "cannot read as many frames as --frames and the size ask for",
                {.file = options.yuv});
  return pictures;
}

/// The thread's CPU time for the inter frames of a GOP.
struct GopTime {
  std::chrono::nanoseconds coding{};
  std::chrono::nanoseconds entropy{};
};

/// Encodes all pictures as one GOP. Returns the time of the inter frames; `times` then also covers only these.
GopTime encode(const EncoderSettings& settings, const cpu::Kernels& kernels, const std::vector<cpu::PaddedPicture>& pictures) {
  const ResolvedEncode resolved = resolve(settings);
  cpu::GopChain chain(resolved, kernels);
  const auto planner = resolved.planners();
  TraceRow nobody;
  GopTime time;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (i == 1) {
      times = {};
      time = {};
    }
    const auto number = static_cast<std::int64_t>(i);
    const FramePlan plan = planner->plan({.index = number, .key = i == 0});
    EncodedFrame frame;
    const auto start = cpu::time_of_thread();
    chain.code(number, {pictures[i]}, plan, frame, nobody);
    const auto coded = cpu::time_of_thread();
    chain.write(number, plan, frame);
    time.coding += coded - start;
    time.entropy += cpu::time_of_thread() - coded;
  }
  return time;
}

/// Returns how many ticks reading the clock adds to a measurement.
double empty_ticks() {
  std::vector<double> empty;
  for (int i = 0; i < 1001; ++i) {
    const std::uint64_t start = ticks();
    empty.push_back(static_cast<double>(ticks() - start));
  }
  return summarize(empty).median;
}

/// The length of a clock cycle.
struct Cycle {
  double ticks = 0;
  double nanoseconds = 0;

  Cycle() {
    constexpr std::uint64_t kCycles = 400000;
    for (int i = 0; i < 31; ++i) {
      const auto start = cpu::time_of_thread();
      const std::uint64_t start_ticks = bench::ticks();
      run_clock(kCycles);
      const double these_ticks = static_cast<double>(bench::ticks() - start_ticks) / static_cast<double>(kCycles);
      const double time = static_cast<double>((cpu::time_of_thread() - start).count()) / static_cast<double>(kCycles);
      ticks = i == 0 ? these_ticks : std::min(ticks, these_ticks);
      nanoseconds = i == 0 ? time : std::min(nanoseconds, time);
    }
  }
};

/// Cycles per block of one stage, run by run.
struct Row {
  std::string name;
  double calls_per_block = 0;
  std::vector<double> clocks = {};
};

std::vector<Row> measure(const EncoderSettings& settings, const cpu::Kernels& kernels,
                         const std::vector<cpu::PaddedPicture>& pictures, int repeats) {
  const cpu::Kernels timed_kernels = timed(kernels);
  const double empty = empty_ticks();
  const Cycle cycle;
  const double blocks = Geometry(settings.coding.width, settings.coding.height).blocks() * static_cast<double>(pictures.size() - 1);
  std::vector<Row> rows;
  for (const char* name : kNames) rows.push_back({name});
  rows.push_back({"the rest of coding"});
  rows.push_back({"entropy coding"});
  rows.push_back({"all"});
  for (int i = 0; i < repeats; ++i) {
    const GopTime whole = encode(settings, kernels, pictures);
    encode(settings, timed_kernels, pictures);
    const auto clocks_of = [&](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / cycle.nanoseconds / blocks; };
    double stages = 0;
    for (std::size_t s = 0; s < kStages; ++s) {
      // Some calls are shorter than the clock's resolution, so the difference may be negative.
      const double net = std::max(0.0, static_cast<double>(times[s].ticks) - empty * static_cast<double>(times[s].calls));
      rows[s].calls_per_block = static_cast<double>(times[s].calls) / blocks;
      rows[s].clocks.push_back(net / cycle.ticks / blocks);
      stages += rows[s].clocks.back();
    }
    rows[kStages].clocks.push_back(clocks_of(whole.coding) - stages);
    rows[kStages + 1].clocks.push_back(clocks_of(whole.entropy));
    rows[kStages + 2].clocks.push_back(clocks_of(whole.coding + whole.entropy));
  }
  return rows;
}

void run(const StageBenchOptions& options) {
  const Geometry geometry(options.width, options.height);
  const auto pictures = read_pictures(options, geometry);
  const cpu::Kernels& kernels = cpu::kernels(options.simd.empty() ? std::optional<SimdLevel>() : simd_level_from(options.simd));
  nlohmann::ordered_json figures{{"bench", "stages"}, {"simd", name(kernels.level)}, {"video", options.yuv.substr(options.yuv.rfind('/') + 1)},
                                 {"frames", pictures.size()}};
  oneapi::tbb::task_arena one(1);
  for (const double qp : options.qps) {
    for (const std::string& preset : options.presets) {
      EncoderSettings settings;
      settings.coding.width = options.width;
      settings.coding.height = options.height;
      settings.coding.qp = qp;
      settings.coding.preset = *preset_from(preset);
      const std::vector<Row> rows = one.execute([&] { return measure(settings, kernels, pictures, options.repeats); });
      std::printf("%-22s calls a block   clocks a block\n", (preset + ", qp " + std::to_string(static_cast<int>(qp))).c_str());
      nlohmann::ordered_json entry{{"preset", preset}, {"qp", qp}};
      for (const Row& row : rows) {
        const Sample sample = summarize(row.clocks);
        if (sample.high == 0) continue;  // this preset does not have the stage
        std::printf("  %-20s", row.name.c_str());
        std::printf(row.calls_per_block > 0 ? " %13.3f" : "              ", row.calls_per_block);
        std::printf(" %10.1f (%.1f..%.1f)\n", sample.median, sample.low, sample.high);
        entry["stages"].push_back({{"stage", row.name}, {"calls_per_block", row.calls_per_block}, {"clocks_per_block", to_json(sample)}});
      }
      figures["presets"].push_back(std::move(entry));
    }
  }
  write_figures(options.json, std::move(figures));
}

}  // namespace

tools::Subcommand stage_bench() {
  return bench_command<StageBenchOptions>(
      "stages", "Measure the time of each stage of the presets on one CPU thread",
      [](const StageBenchOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
