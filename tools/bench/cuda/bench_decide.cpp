// c63bench decide: what the stages of decisions by rate take on the device, when everything lies there already.

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/cuda/resident_frames.h"
#include "bench/cuda/yuv_video.h"
#include "bench/figures.h"
#include "c63/cuda/devices.h"
#include "common/values.h"
#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/device_guard.h"
#include "decide/frame_plan.h"
#include "decide/presets.h"

namespace c63::bench {
namespace {

/// An inter frame of every lane, between its stages.
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
        cuda::FrameJob job = resident_.jobs()[i];
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
  /// A stage of all frames; how many they are.
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

/// Microseconds a frame of a stage alone, several times in a row.
Sample time_stage(DecidedFrames& frames, const cuda::RateStage& stage, int repeats) {
  constexpr int kTimes = 4;
  const cuda::Event start(cuda::Event::Timing::on);
  const cuda::Event stop(cuda::Event::Timing::on);
  std::vector<double> microseconds;
  for (int run = 0; run < repeats + 1; ++run) {
    int count = 0;
    start.record(frames.stream());
    for (int i = 0; i < kTimes; ++i) count += frames.enqueue(stage);
    stop.record(frames.stream());
    stop.synchronize();
    if (run > 0) microseconds.push_back(stop.milliseconds_since(start) * 1e3 / count);
  }
  return summarize(std::move(microseconds));
}

void run(const DecideBenchOptions& options) {
  const cuda::DeviceInfo& device = cuda::require_device(options.device);
  const cuda::DeviceGuard guard(options.device);
  nlohmann::ordered_json figures = {{"subcommand", "decide"},
                                    {"device", device.name},
                                    {"qp", options.qp},
                                    {"results", nlohmann::ordered_json::array()}};
  std::printf("%s, qp %g; microseconds a frame of each stage by itself\n", device.name.c_str(), options.qp);
  for (const std::string& text : options.sizes) {
    const auto [width, height] = tools::require_size("--sizes", text);
    constexpr int kFrames = 8;
    const MemoryVideo video(width, height, frames_of(options.yuv, width, height, kFrames), kFrames);
    for (const std::string& preset : options.presets) {
      for (const int lanes : options.lanes) {
        DecidedFrames frames({.width = width, .height = height, .preset = *preset_from(preset), .qp = options.qp},
                             video, lanes);
        std::printf("%s, %s, %d lane(s)\n", text.c_str(), preset.c_str(), lanes);
        nlohmann::ordered_json stages;
        double sum = 0;
        for (const cuda::RateStage& stage : cuda::rate_stages()) {
          const Sample sample = time_stage(frames, stage, options.repeats);
          sum += sample.median;
          std::printf("  %-22s %9.2f %9.2f..%8.2f\n", std::string(stage.name).c_str(), sample.median, sample.low,
                      sample.high);
          stages[std::string(stage.name)] = to_json(sample);
        }
        std::printf("  %-22s %9.2f\n", "sum", sum);
        std::fflush(stdout);
        figures["results"].push_back(
            {{"size", text}, {"preset", preset}, {"lanes", lanes}, {"stages_us", stages}, {"sum_us", sum}});
      }
    }
  }
  write_figures(options.json, figures);
}

}  // namespace

tools::Subcommand decide_bench() {
  return bench_command<DecideBenchOptions>(
      "decide", "Measure the stages of decisions by rate on the GPU, input resident",
      [](const DecideBenchOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
