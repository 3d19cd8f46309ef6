// c63bench decide: measures the time of each stage of rate-distortion decisions on a GPU, with all data on the device. It
// also shows which share of the memory's rate a stage reaches, and for the search, which share of the rate of absolute
// differences. Both rates are measured in the same run.

#include <algorithm>
#include <array>
#include <span>

#include "bench/cuda/probes.h"
#include "bench/video.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "codec/search_window.h"
#include "common/values.h"
#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "decide/frame_plan.h"
#include "decide/presets.h"

namespace c63::bench {
namespace {

/// The numbers of blocks and candidates of a frame after all stages.
struct DecidedCounts {
  double blocks = 0;
  double candidates = 0;
  double predicted = 0;       ///< candidates that are predicted from the reference
  double with_ac = 0;         ///< candidates with AC coefficients, whose levels are chosen
  double slots = 0;           ///< candidates of a block for which there is memory
  double found = 1;           ///< vectors per block that the search returns
};

constexpr double kCostBytes = kDcLevels * sizeof(Cost);
constexpr double kDcBytes = kDcLevels * sizeof(std::int16_t);
constexpr double kCoefficientBytes = kBlockSamples * sizeof(std::int16_t);

template <typename T>
std::vector<T> download(const T* from, std::size_t count, const cuda::Stream& stream) {
  std::vector<T> values(count);
  cuda::copy_async(values.data(), from, count, stream);
  stream.synchronize();
  return values;
}

DecidedCounts count_decided(const cuda::FrameLayout& layout, const cuda::RateFrame* on_device, const cuda::Stream& stream) {
  const cuda::RateFrame frame = download(on_device, 1, stream).front();
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  const auto slots = static_cast<std::size_t>(frame.capacity);
  const auto counts = download(frame.scratch.counts, blocks, stream);
  const auto candidates = download(frame.scratch.candidates, blocks * slots, stream);
  const auto summaries = download(frame.scratch.summaries, blocks * slots, stream);
  DecidedCounts decided{.blocks = static_cast<double>(blocks),
                        .slots = static_cast<double>(slots),
                        .found = static_cast<double>(std::max(1, frame.rate.found_vectors))};
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t slot = 0; slot < counts[block]; ++slot) {
      const std::size_t i = block * slots + slot;
      ++decided.candidates;
      decided.predicted += cuda::vector_of_candidate(candidates[i]) != kNoVector ? 1 : 0;
      decided.with_ac += summaries[i].kept != 0 ? 1 : 0;
    }
  }
  return decided;
}

/// Returns how many bytes of device memory a stage must at least read and write: its inputs and outputs, once each.
/// The coded bits that stage "code choices" writes are not counted.
double least_bytes(std::string_view stage, const cuda::FrameLayout& layout, const DecidedCounts& n) {
  const auto picture = static_cast<double>(layout.picture_bytes);
  constexpr double kVector = sizeof(MotionVector);
  constexpr double kFoundCost = sizeof(std::uint16_t);
  constexpr double kPacked = sizeof(cuda::PackedCandidate);
  constexpr double kSummary = sizeof(cuda::CandidateSummary);
  constexpr double kMasks = sizeof(cuda::AcMasks);
  const std::pair<std::string_view, double> stages[] = {
      {"repeat error", 2 * picture},
      {"search", 2 * picture + n.blocks * (n.found * kVector + kFoundCost)},
      {"choose vectors", n.blocks * (2 * kVector + kFoundCost)},
      {"list candidates", n.blocks * (n.found * kVector + 1) + n.candidates * kPacked},
      {"transform candidates",
       picture + n.predicted * kBlockSamples + n.candidates * (kPacked + kSummary) + n.with_ac * kCoefficientBytes},
      {"choose levels", n.candidates * (kSummary + kDcBytes + 1 + kMasks) + n.with_ac * kCoefficientBytes +
                            n.blocks * n.slots * kCostBytes},
      {"beam", n.blocks * n.slots * kCostBytes + n.candidates * (kDcBytes + kPacked) +
                   n.blocks * (sizeof(cuda::ChosenCandidate) + kVector + 1)},
      {"code choices",
       3 * picture + n.blocks * (sizeof(cuda::ChosenCandidate) + kVector + kMasks + sizeof(std::uint16_t))}};
  const auto found = std::ranges::find(stages, stage, [](const auto& entry) { return entry.first; });
  return found == std::end(stages) ? 0 : found->second;  // no preset makes weights on the device
}

/// One inter frame for each lane. All stages have run on these frames once, so each stage can be timed alone.
class DecidedFrames {
 public:
  DecidedFrames(const CodingSettings& coding, const MemoryVideo& video, int lanes)
      : context_(resolve({.coding = coding}), {}, cuda::usual_coded_capacity(Geometry(coding.width, coding.height))),
        chains_(static_cast<std::size_t>(lanes)),
        rate_(context_, static_cast<std::size_t>(lanes)),
        quantizers_(std::tuple_size_v<cuda::DecisionQuantizers>) {
    context_.lookahead = {};  // only the stages of decisions are timed
    fill_chains(coding, video);
    const PresetDecisions decisions = preset_decisions(coding);
    plan_ = {.tables = decisions.tables, .headers = decisions.inter_headers, .rate = decisions.rate};
    std::array<c63::Quantizer, kPlanes> quantizers;
    for (int p = 0; p < kPlanes; ++p) quantizers[p] = c63::Quantizer(plan_.tables[p], p);
    cuda::copy_async(quantizers_.data(), quantizers.data(), quantizers.size(), stream());
    stream().synchronize();
    FramePlan key = plan_;
    key.key = true;
    for (const bool is_key : {true, false}) {
      const std::size_t index = is_key ? 0 : 1;
      std::vector<cuda::RateItem> items;
      for (std::size_t i = 0; i < chains_.size(); ++i) {
        std::uint8_t* const decided = chains_[i].device.decided;
        cuda::CodingJob job =
            cuda::job_of(context_, chains_[i], index, index, {.key = is_key, .reconstruction = is_key ? 0 : 1});
        job.unpredicted = is_key ? nullptr : decided;
        items.push_back({.frame = {.job = job, .quantizers = quantizers_.data(), .decided = decided},
                         .plan = is_key ? &key : &plan_,
                         .side = static_cast<int>(i) % cuda::RateStages::kSides});
      }
      groups_ = rate_.prepare(items, index, {stream(), stream()});
      for (const cuda::RateStage& stage : cuda::kRateStages) enqueue(stage);
      stream().synchronize();
    }
  }

  [[nodiscard]] const cuda::Stream& stream() const { return stream_; }
  [[nodiscard]] const cuda::FrameLayout& layout() const { return context_.layout; }
  /// Returns how many blocks and candidates of each kind one of the frames has.
  [[nodiscard]] DecidedCounts count() const { return count_decided(layout(), groups_.front().frames.frames, stream()); }
  /// Returns how many times the search of one frame computes four absolute differences (VABSDIFF4) if it compares every
  /// candidate.
  [[nodiscard]] double brute_differences() const {
    double candidates = 0;
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneGeometry plane = context_.geometry.plane(p);
      const int range = plane_search_range(context_.settings.coding.search_range, p);
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
      stage.enqueue(context_.layout, group.frames, stream());
      frames += group.frames.count;
    }
    return frames;
  }

 private:
  /// Uploads the first frames of the video to the inputs of all chains.
  void fill_chains(const CodingSettings& coding, const MemoryVideo& video) {
    cuda::Carver device_size;
    cuda::Carver host_size;
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      cuda::DeviceChain::carve(device_size, context_);
      cuda::HostChain::carve(host_size, context_);
    }
    device_memory_ = cuda::DeviceBuffer<std::byte>(device_size.used());
    host_memory_ = cuda::PinnedBuffer<std::byte>(host_size.used());
    cuda::fill_async(device_memory_.data(), 0, device_memory_.bytes(), stream_);
    cuda::Carver device(device_memory_.data());
    cuda::Carver host(host_memory_.data());
    const cuda::QuantizerTable table = cuda::make_quantizer_table(preset_decisions(coding).tables);
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      chains_[i].device = cuda::DeviceChain::carve(device, context_);
      chains_[i].host = cuda::HostChain::carve(host, context_);
      for (std::size_t k = 0; k < cuda::kChainDepth; ++k) {
        const cuda::DeviceChain::Input& input = chains_[i].device.inputs[k];
        const auto frame = video.frame(static_cast<std::int64_t>(k + i));
        const std::uint8_t* from = frame.data();
        for (int p = 0; p < kPlanes; ++p) {
          cuda::copy_async(input.picture + context_.layout.offset[p], from, context_.layout.coded[p], stream_);
          from += context_.layout.coded[p];
        }
        cuda::copy_async(input.quantizers, table.data(), table.size(), stream_);
        stream_.synchronize();
      }
    }
  }

  cuda::CodingContext context_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<std::byte> device_memory_;
  cuda::PinnedBuffer<std::byte> host_memory_;
  std::vector<cuda::Chain> chains_;
  cuda::RateStages rate_;
  cuda::DeviceBuffer<c63::Quantizer> quantizers_;
  FramePlan plan_;
  std::vector<cuda::RateStages::Group> groups_;
};

/// Returns the seconds per frame of `stages`, one after another.
Sample time_stages(DecidedFrames& frames, std::span<const cuda::RateStage> stages, int repeats) {
  int count = 0;
  const auto work = [&] {
    for (const cuda::RateStage& stage : stages) count = frames.enqueue(stage);
  };
  const Sample seconds = measure(timed_on(frames.stream(), work, 4), repeats);
  return seconds.times(1.0 / count);
}

/// Returns the seconds per frame of stage `index` alone. "choose levels" needs the count that "list candidates" makes. So
/// all stages from "list candidates" to "choose levels" are timed together, and the time of the stages before "choose
/// levels" is subtracted.
Sample time_stage(DecidedFrames& frames, std::size_t index, int repeats) {
  const std::span<const cuda::RateStage> stages = cuda::kRateStages;
  if (stages[index].name != "choose levels") return time_stages(frames, stages.subspan(index, 1), repeats);
  const auto listed = static_cast<std::size_t>(
      std::ranges::find(stages, std::string_view("list candidates"), &cuda::RateStage::name) - stages.begin());
  const double before = time_stages(frames, stages.subspan(listed, index - listed), repeats).median;
  const Sample all = time_stages(frames, stages.subspan(listed, index + 1 - listed), repeats);
  return {all.median - before, all.low - before, all.high - before};
}

}  // namespace

void bench_decide(const Options& options) {
  const cuda::DeviceInfo& device = cuda::require_device(options.device);
  const cuda::DeviceGuard guard(options.device);
  const cuda::Stream probing;
  const double memory_ceiling = measure_memory_ceiling(probing);
  const double difference_ceiling = measure_absdiff4_ceiling(probing);
  Report report("decide", options, {{"size", "size", -10}, {"preset", "preset", -7}, {"lanes", "lanes", 5}, {"stage", "stage", -22},
                                    {"us/median", "us/frame", 9, 2}, {"us/p10", "10 %", 9, 2}, {"us/p90", "90 %", 9, 2},
                                    {"least_bytes", "MB", 8, 2, 1e-6}, {"of_memory", "of memory", 10, 1, 100, " %"},
                                    {"of_differences", "of differences", 14, 1, 100, " %"}});
  report.about().update({{"device", device.name},
                         {"qp", options.qp},
                         {"memory_ceiling_bytes_per_s", memory_ceiling},
                         {"absdiff4_ceiling_per_s", difference_ceiling}});
  report.print_titles();
  for (const std::string& text : options.sizes) {
    const auto [width, height] = tools::require_size("--sizes", text);
    constexpr int kFrames = 8;
    const MemoryVideo video(width, height, frames_of(options.yuv, width, height, kFrames), kFrames);
    for (const std::string& preset : options.presets) {
      const Preset decided = *enum_from<Preset>(preset);
      if (decided == Preset::reference) throw Error(ErrorKind::usage, "C63-USAGE", "preset reference has no rate decisions");
      for (const int lanes : options.lanes) {
        DecidedFrames frames({.width = width, .height = height, .preset = decided, .qp = options.qp, .search_range = search_range_of(decided)},
                             video, std::max(1, lanes));
        const DecidedCounts counts = frames.count();
        const Json labels = {{"size", text}, {"preset", preset}, {"lanes", lanes}};
        double sum = 0;
        for (std::size_t i = 0; i < cuda::kRateStages.size(); ++i) {
          const std::string_view stage = cuda::kRateStages[i].name;
          const Sample seconds = time_stage(frames, i, options.repeats);
          sum += seconds.median;
          const double bytes = least_bytes(stage, frames.layout(), counts);
          Json row = labels;
          row.update({{"stage", stage}, {"us", seconds.times(1e6)}, {"least_bytes", bytes}, {"of_memory", bytes / seconds.median / memory_ceiling}});
          if (stage == "search") row["of_differences"] = frames.brute_differences() / seconds.median / difference_ceiling;
          report.add(std::move(row));
        }
        Json row = labels;
        row.update({{"stage", "sum"},
                    {"us", {{"median", sum * 1e6}}},
                    {"candidates_per_block", counts.candidates / counts.blocks},
                    {"with_ac_per_block", counts.with_ac / counts.blocks}});
        report.add(std::move(row));
      }
    }
  }
  report.finish();
}

}  // namespace c63::bench
