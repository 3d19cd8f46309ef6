// c63bench decide: measures the time of each stage of rate-distortion decisions on a GPU, with all data on the device. It
// also shows which share of the memory's rate a stage reaches, and for the search, which share of the rate of absolute
// differences. Both rates are measured in the same run.

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/cuda/absdiff_probe.h"
#include "bench/cuda/memory_probe.h"
#include "bench/cuda/resident_frames.h"
#include "bench/cuda/stage_traffic.h"
#include "bench/cuda/yuv_video.h"
#include "bench/figures.h"
#include "c63/cuda/devices.h"
#include "codec/search_window.h"
#include "common/values.h"
#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/device_guard.h"
#include "decide/frame_plan.h"
#include "decide/presets.h"

namespace c63::bench {
namespace {

/// One inter frame for each lane. All stages have run on these frames once, so each stage can be timed alone.
class DecidedFrames {
 public:
  DecidedFrames(const CodingSettings& coding, const MemoryVideo& video, int lanes)
      : resident_(coding, video, lanes, "automatic"),
        rate_(resident_.context(), static_cast<std::size_t>(lanes)),
        quantizers_(std::tuple_size_v<cuda::DecisionQuantizers>) {
    const PresetDecisions decisions = preset_decisions(coding);
    plan_ = {.tables = decisions.tables, .headers = decisions.inter_headers, .rate = decisions.rate};
    std::array<c63::Quantizer, kPlanes> quantizers;
    for (int p = 0; p < kPlanes; ++p) quantizers[p] = c63::Quantizer(plan_.tables[p], p);
    cuda::copy_async(quantizers_.data(), quantizers.data(), quantizers.size(), stream());
    stream().synchronize();
    FramePlan key = plan_;
    key.key = true;
    for (const bool is_key : {true, false}) {
      resident_.choose(is_key ? 0 : 1);
      std::vector<cuda::RateItem> items;
      for (std::size_t i = 0; i < resident_.jobs().size(); ++i) {
        std::uint8_t* const decided = resident_.chains()[i].device.decided;
        cuda::CodingJob job = resident_.jobs()[i];
        job.unpredicted = is_key ? nullptr : decided;
        items.push_back({.job = job,
                         .plan = is_key ? &key : &plan_,
                         .quantizers = quantizers_.data(),
                         .decided = decided,
                         .side = static_cast<int>(i) % cuda::RateStages::kSides});
      }
      groups_ = rate_.prepare(items, is_key ? 0 : 1, {stream(), stream()});
      for (const cuda::RateStage& stage : cuda::rate_stages()) enqueue(stage);
      stream().synchronize();
    }
  }

  [[nodiscard]] const cuda::Stream& stream() const { return resident_.stream(); }
  [[nodiscard]] const cuda::FrameLayout& layout() const { return resident_.context().layout; }
  /// Returns how many blocks and candidates of each kind one of the frames has.
  [[nodiscard]] DecidedCounts count() const { return count_decided(layout(), groups_.front().frames.frames, stream()); }
  /// Returns how many times the search of one frame computes four absolute differences (VABSDIFF4) if it compares every
  /// candidate.
  [[nodiscard]] double brute_differences() const {
    const cuda::CodingContext& context = resident_.context();
    double candidates = 0;
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneGeometry plane = context.geometry.plane(p);
      const int range = plane_search_range(context.settings.coding.search_range, p);
      for (int block = 0; block < plane.blocks(); ++block) {
        const SearchWindow w =
            whole_search_window(block % plane.columns, block / plane.columns, plane.width, plane.height, range);
        candidates += static_cast<double>(w.right - w.left) * (w.bottom - w.top);
      }
    }
    return candidates * (kBlockSamples / 4);
  }
  /// Puts a stage for all frames on the stream. Returns the number of frames.
  int enqueue(const cuda::RateStage& stage) {
    int frames = 0;
    for (const cuda::RateStages::Group& group : groups_) {
      stage.enqueue(resident_.context().layout, group.frames, stream());
      frames += group.frames.count;
    }
    return frames;
  }

 private:
  ResidentFrames resident_;
  cuda::RateStages rate_;
  cuda::DeviceBuffer<c63::Quantizer> quantizers_;
  FramePlan plan_;
  std::vector<cuda::RateStages::Group> groups_;
};

/// Returns the microseconds per frame of `stages`, one after another. They run several times in a row.
Sample time_stages(DecidedFrames& frames, std::span<const cuda::RateStage> stages, int repeats) {
  constexpr int kTimes = 4;
  const cuda::Event start(cuda::Event::Timing::on);
  const cuda::Event stop(cuda::Event::Timing::on);
  std::vector<double> microseconds;
  for (int run = 0; run < repeats + 1; ++run) {
    int count = 0;
    start.record(frames.stream());
    for (int i = 0; i < kTimes; ++i) {
      for (const cuda::RateStage& stage : stages) count += frames.enqueue(stage);
    }
    stop.record(frames.stream());
    stop.synchronize();
    const double each = static_cast<double>(count) / static_cast<double>(stages.size());
    if (run > 0) microseconds.push_back(stop.milliseconds_since(start) * 1e3 / each);
  }
  return summarize(std::move(microseconds));
}

/// Returns the microseconds per frame of stage `index` alone. "choose levels" needs the count that "list candidates"
/// makes. So all stages from "list candidates" to "choose levels" are timed together, and the time of the stages before
/// "choose levels" is subtracted.
Sample time_stage(DecidedFrames& frames, std::size_t index, int repeats) {
  const auto stages = cuda::rate_stages();
  if (stages[index].name != "choose levels") return time_stages(frames, stages.subspan(index, 1), repeats);
  const auto listed = static_cast<std::size_t>(
      std::ranges::find(stages, std::string_view("list candidates"), &cuda::RateStage::name) - stages.begin());
  const double before = time_stages(frames, stages.subspan(listed, index - listed), repeats).median;
  Sample sample = time_stages(frames, stages.subspan(listed, index + 1 - listed), repeats);
  for (double* const us : {&sample.median, &sample.low, &sample.high}) *us -= before;
  return sample;
}

/// Returns the results for one size, preset and number of lanes.
nlohmann::ordered_json measure(DecidedFrames& frames, int repeats, double memory_ceiling, double difference_ceiling) {
  const DecidedCounts counts = frames.count();
  nlohmann::ordered_json stages;
  nlohmann::ordered_json shares;
  double sum = 0;
  for (std::size_t i = 0; i < cuda::rate_stages().size(); ++i) {
    const cuda::RateStage& stage = cuda::rate_stages()[i];
    const Sample us = time_stage(frames, i, repeats);
    sum += us.median;
    const std::string name(stage.name);
    const double bytes = least_bytes(stage.name, frames.layout(), counts);
    const double of_memory = bytes / (us.median * 1e-6) / memory_ceiling;
    stages[name] = to_json(us);
    shares[name] = {{"least_bytes", bytes}, {"of_memory", of_memory}};
    std::printf("  %-22s %9.2f %9.2f..%8.2f %9.2f MB %6.1f %% of memory", name.c_str(), us.median, us.low, us.high, bytes * 1e-6,
                of_memory * 100);
    if (stage.name == "search") {
      const double of_differences = frames.brute_differences() / (us.median * 1e-6) / difference_ceiling;
      shares[name]["of_differences"] = of_differences;
      std::printf(", %.1f %% of differences", of_differences * 100);
    }
    std::printf("\n");
  }
  std::printf("  %-22s %9.2f; a block: %.2f candidates, %.2f with AC\n", "sum", sum,
              counts.candidates / counts.blocks, counts.with_ac / counts.blocks);
  std::fflush(stdout);
  return {{"stages_us", stages},
          {"sum_us", sum},
          {"shares_of_ceilings", shares},
          {"candidates_a_block", counts.candidates / counts.blocks},
          {"with_ac_a_block", counts.with_ac / counts.blocks}};
}

void run(const DecideBenchOptions& options) {
  const cuda::DeviceInfo& device = cuda::require_device(options.device);
  const cuda::DeviceGuard guard(options.device);
  const cuda::Stream probing;
  const double memory_ceiling = measure_memory_ceiling(probing);
  const double difference_ceiling = measure_absdiff4_ceiling(probing);
  nlohmann::ordered_json figures = {{"subcommand", "decide"},
                                    {"device", device.name},
                                    {"qp", options.qp},
                                    {"memory_ceiling_bytes_per_s", memory_ceiling},
                                    {"absdiff4_ceiling_per_s", difference_ceiling},
                                    {"results", nlohmann::ordered_json::array()}};
  std::printf("%s, qp %g; microseconds a frame of each stage by itself, bytes that it has to touch at least\n",
              device.name.c_str(), options.qp);
  std::printf("memory ceiling %.2f TB/s, VABSDIFF4 ceiling %.2f T/s, of which a brute-force search would be 100 %%\n",
              memory_ceiling * 1e-12, difference_ceiling * 1e-12);
  for (const std::string& text : options.sizes) {
    const auto [width, height] = tools::require_size("--sizes", text);
    constexpr int kFrames = 8;
    const MemoryVideo video(width, height, frames_of(options.yuv, width, height, kFrames), kFrames);
    for (const std::string& preset : options.presets) {
      for (const int lanes : options.lanes) {
        const Preset decided = *preset_from(preset);
        DecidedFrames frames({.width = width,
                              .height = height,
                              .preset = decided,
                              .qp = options.qp,
                              .search_range = search_range_of(decided)},
                             video, lanes);
        std::printf("%s, %s, %d lane(s)\n", text.c_str(), preset.c_str(), lanes);
        nlohmann::ordered_json result = {{"size", text}, {"preset", preset}, {"lanes", lanes}};
        result.update(measure(frames, options.repeats, memory_ceiling, difference_ceiling));
        figures["results"].push_back(std::move(result));
        write_figures_so_far(options.json, figures);
      }
    }
  }
  write_figures(options.json, figures);
}

}  // namespace

tools::Subcommand decide_bench() {
  return bench_command<DecideBenchOptions>(
      "decide", "Measure the stages of rate decisions on the GPU, with the input in GPU memory",
      [](const DecideBenchOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
