// c63bench stages: what a block takes in each stage of an encode on one thread, preset by preset. The kernels' table is
// replaced by one that takes the time of every call.

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
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
#else
#include <chrono>
#endif

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/cpu_probe.h"
#include "bench/figures.h"
#include "c63/error.h"
#include "cpu/gop_chain.h"
#include "decide/planner.h"

namespace c63::bench {
namespace {

/// A clock that takes few cycles to read. Its unit is measured, not known.
std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

enum Stage : std::size_t { kSums, kSearch, kSad, kTransform, kLevels, kCosts, kBeam, kReconstruct, kCoding, kEntropy, kStages };
constexpr std::array<const char*, kStages> kNames = {"sums of 4x4", "search",  "SAD of left vector", "transform",
                                                     "levels",      "costs",   "beam",               "reconstruct",
                                                     "all coding",  "entropy coding"};

struct StageTime {
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;
};

/// What the timed kernels write to; one thread encodes.
std::array<StageTime, kStages> times;
cpu::Kernels plain;
cpu::DecisionKernels plain_decisions;

class Stopwatch {
 public:
  explicit Stopwatch(Stage stage) : stage_(stage) {}
  ~Stopwatch() {
    times[stage_].ticks += ticks() - start_;
    ++times[stage_].calls;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Stage stage_;
  std::uint64_t start_ = ticks();
};

/// A kernel of a table, timed.
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
  static constexpr Table kTimed{timed_decision<kSearch, &Table::search_best>, timed_decision<kTransform, &Table::transform_blocks>,
                                timed_decision<kLevels, &Table::choose_levels>, timed_decision<kCosts, &Table::cost_candidate>,
                                timed_decision<kBeam, &Table::extend_beam>};
  return kTimed;
}

/// The kernels, timed.
cpu::Kernels timed(const cpu::Kernels& kernels) {
  using Table = cpu::Kernels;
  plain = kernels;
  plain_decisions = kernels.decisions();
  return {kernels.level,
          timed_kernel<kSad, &Table::sad>,
          timed_kernel<kSearch, &Table::search_brute>,
          timed_kernel<kSearch, &Table::search_eliminating>,
          timed_kernel<kSums, &Table::sums_of_row>,
          timed_kernel<kTransform, &Table::transform_quantize>,
          timed_kernel<kReconstruct, &Table::dequantize_reconstruct>,
          kernels.ssim_sums,
          timed_decisions};
}

/// The frames of a video as the encoder has them.
std::vector<cpu::PaddedPicture> read_pictures(const StageBenchOptions& options, const Geometry& geometry) {
  std::vector<cpu::PaddedPicture> pictures;
  std::ifstream file(options.yuv, std::ios::binary);
  for (int f = 0; f < options.frames; ++f) {
    cpu::PaddedPicture& picture = pictures.emplace_back(geometry);
    const auto input = picture.input();
    file.read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(input.size()));
    picture.lay_out();
  }
  if (!file) throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "cannot read the frames to measure on", {.file = options.yuv});
  return pictures;
}

/// Encodes all pictures as one GOP; the times of its inter frames are in `times`.
void encode(const EncoderSettings& settings, const cpu::Kernels& kernels, const std::vector<cpu::PaddedPicture>& pictures) {
  cpu::GopChain chain(settings, kernels);
  const auto planner = make_planner_factory(settings.coding)();
  TraceRow nobody;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (i == 1) times = {};
    const auto number = static_cast<std::int64_t>(i);
    const FramePlan plan = planner->plan({.index = number, .key = i == 0});
    EncodedFrame frame;
    {
      const Stopwatch watch(kCoding);
      chain.code(number, {pictures[i]}, plan, frame, nobody);
    }
    const Stopwatch watch(kEntropy);
    chain.write(number, plan, frame);
  }
}

/// Ticks that reading the clock adds to what is timed.
double empty_ticks() {
  std::vector<double> empty;
  for (int i = 0; i < 1001; ++i) {
    const std::uint64_t start = ticks();
    empty.push_back(static_cast<double>(ticks() - start));
  }
  return summarize(empty).median;
}

/// Ticks a clock cycle.
double ticks_per_cycle() {
  constexpr std::uint64_t kCycles = 400000;
  std::vector<double> found;
  for (int i = 0; i < 31; ++i) {
    const std::uint64_t start = ticks();
    run_clock(kCycles);
    found.push_back(static_cast<double>(ticks() - start) / static_cast<double>(kCycles));
  }
  return *std::ranges::min_element(found);
}

void run(const StageBenchOptions& options) {
  const Geometry geometry(options.width, options.height);
  const auto pictures = read_pictures(options, geometry);
  const cpu::Kernels kernels =
      timed(cpu::kernels(options.simd.empty() ? std::optional<SimdLevel>() : simd_level_from(options.simd)));
  const double empty = empty_ticks();
  const double cycle = ticks_per_cycle();
  const double blocks = geometry.blocks() * static_cast<double>(pictures.size() - 1);
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
      std::array<std::vector<double>, kStages> clocks;  // a block
      std::array<std::uint64_t, kStages> calls{};
      for (int i = 0; i < options.repeats; ++i) {
        one.execute([&] { encode(settings, kernels, pictures); });
        double timing = 0;  // of kernels, which coding as a whole has in it
        for (std::size_t s = 0; s < kStages; ++s) {
          const double spent = empty * static_cast<double>(times[s].calls);
          if (s < kCoding) timing += spent;
          const double net = static_cast<double>(times[s].ticks) - (s == kCoding ? timing : spent);
          clocks[s].push_back(std::max(net, 0.0) / cycle / blocks);  // some take less than the clock resolves
          calls[s] = times[s].calls;
        }
      }
      std::printf("%s, qp %g\n", preset.c_str(), qp);
      nlohmann::ordered_json entry{{"preset", preset}, {"qp", qp}};
      for (std::size_t s = 0; s < kStages; ++s) {
        if (calls[s] == 0) continue;
        const Sample sample = summarize(clocks[s]);
        const double per_block = static_cast<double>(calls[s]) / blocks;
        std::printf("  %-20s %8.3f calls a block %9.1f clocks a block (%.1f..%.1f)\n", kNames[s], per_block, sample.median,
                    sample.low, sample.high);
        entry["stages"].push_back({{"stage", kNames[s]}, {"calls_per_block", per_block}, {"clocks_per_block", to_json(sample)}});
      }
      figures["presets"].push_back(std::move(entry));
    }
  }
  write_figures(options.json, std::move(figures));
}

}  // namespace

tools::Subcommand stage_bench() {
  return bench_command<StageBenchOptions>("stages", "Measure what each stage of presets takes on one thread of the CPU",
                                          [](const StageBenchOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
