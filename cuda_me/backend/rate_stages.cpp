#include "cuda_me/backend/rate_stages.h"

#include <algorithm>

#include "cuda_me/backend/user_frame_search.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

/// The most device memory, in bytes, for data that one stage writes and another reads. One frame per side gets its
/// memory in any case.
constexpr std::size_t kScratchBytes = std::size_t{2} << 30;

}  // namespace

RateStages::RateStages(const CodingContext& context, std::size_t frames) : context_(context), frames_(frames) {}

RateScratch RateStages::carve(Carver& carver, int capacity) const {
  const auto blocks = static_cast<std::size_t>(context_.layout.blocks);
  const std::size_t candidates = blocks * static_cast<std::size_t>(capacity);
  const auto mcus = static_cast<std::size_t>(context_.layout.mcus);
  RateScratch scratch;
  scratch.weights = carver.take<Weight>(mcus);
  scratch.activities = carver.take<std::int16_t>(mcus);
  scratch.found = carver.take<MotionVector>(blocks * kMaxFoundVectors);
  scratch.found_costs = carver.take<std::uint16_t>(blocks);
  scratch.chosen = carver.take<MotionVector>(blocks);
  scratch.candidates = carver.take<PackedCandidate>(candidates);
  scratch.counts = carver.take<std::uint8_t>(blocks);
  scratch.coefficients = carver.take<std::int16_t>(candidates * 64);
  scratch.summaries = carver.take<CandidateSummary>(candidates);
  scratch.costs = carver.take<Cost>(candidates * kDcLevels);
  scratch.dc_levels = carver.take<std::int16_t>(candidates * kDcLevels);
  scratch.without_ac = carver.take<std::uint8_t>(candidates);
  scratch.masks = carver.take<AcMasks>(candidates);
  scratch.choices = carver.take<std::uint64_t>(blocks);
  scratch.winning_lanes = carver.take<std::uint8_t>(blocks);
  scratch.winners = carver.take<ChosenCandidate>(blocks);
  return scratch;
}

std::size_t RateStages::scratch_bytes(int capacity) const {
  Carver carver;
  static_cast<void>(carve(carver, capacity));
  return carver.used();
}

void RateStages::reserve(const RateDecisions& rate, const Streams& streams) {
  const int capacity = most_candidates(rate, false);
  if (capacity <= capacity_) return;
  if (capacity_ == 0) {
    on_device_ = DeviceBuffer<RateFrame>(kBatchesInFlight * frames_);
    on_host_ = PinnedBuffer<RateFrame>(kBatchesInFlight * frames_);
  }
  for (const cudaStream_t stream : streams) check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const std::size_t bytes = scratch_bytes(capacity);
  const std::size_t frames = std::clamp<std::size_t>(kScratchBytes / bytes / kSides, 1, (frames_ + kSides - 1) / kSides);
  capacity_ = 0;
  scratch_ = DeviceBuffer<std::byte>(std::min(kSides * frames, frames_) * bytes);
  // Kernels may load entries that no stage has written. They ignore the values. Setting all to zero avoids reads of
  // uninitialized memory.
  fill_async(scratch_.data(), 0, scratch_.bytes(), streams.front());
  check(cudaStreamSynchronize(streams.front()), "cudaStreamSynchronize");
  group_frames_ = frames;
  capacity_ = capacity;
}

RateFrame RateStages::frame_of(const RateItem& item, const RateScratch& scratch) {
  const FramePlan& plan = *item.plan;
  if (plan.rate.lambda != lambda_) {
    lambda_ = plan.rate.lambda;
    weighted_ = WeightedLambdas(lambda_);
  }
  RateFrame frame = item.frame;
  frame.rate = plan.rate;
  frame.headers = plan.headers;
  frame.weights = plan.rate.activity_power > 0 ? scratch.weights : frame.planned_weights;
  frame.is_weighted = frame.weights != nullptr || plan.rate.chroma_weight != kPlainWeight;
  frame.weighted = weighted_;
  frame.must_repeat = plan.repeat;
  frame.may_repeat = plan.rate.repeats && !plan.key && plan.advances_reference();
  frame.capacity = most_candidates(plan.rate, plan.key);
  frame.scratch = scratch;
  return frame;
}

std::vector<RateStages::Group> RateStages::prepare(std::span<const RateItem> items, std::size_t outputs,
                                                   const Streams& streams) {
  for (const RateItem& item : items) reserve(item.plan->rate, streams);
  std::size_t next = outputs * frames_;
  std::vector<Group> groups;
  for (int side = 0; side < kSides; ++side) {
    const std::size_t first = next;
    for (const RateItem& item : items) {
      if (item.side != side) continue;
      const std::size_t place = static_cast<std::size_t>(side) * group_frames_ + (next - first) % group_frames_;
      Carver carver(scratch_.data() + place * scratch_bytes(capacity_));
      on_host_.data()[next++] = frame_of(item, carve(carver, capacity_));
    }
    if (next == first) continue;
    const cudaStream_t stream = streams[static_cast<std::size_t>(side)];
    copy_async(on_device_.data() + first, on_host_.data() + first, next - first, stream);
    for (std::size_t begin = first; begin < next; begin += group_frames_) {
      const std::size_t count = std::min(group_frames_, next - begin);
      const std::span<const RateFrame> on_host = on_host_.span().subspan(begin, count);
      groups.push_back({group_of(on_host, on_device_.data() + begin), on_host, side});
    }
  }
  return groups;
}

void RateStages::enqueue(std::span<const RateItem> items, std::size_t outputs, const Streams& streams,
                         UserFrameSearch* user) {
  if (items.empty()) return;
  const Range range("rate");
  for (const Group& group : prepare(items, outputs, streams)) {
    for (const RateStage& stage : kRateStages) {
      const Range stage_range(stage.name.data());
      const cudaStream_t stream = streams[static_cast<std::size_t>(group.side)];
      if (user != nullptr && stage.is_search) {
        user->enqueue(group.on_host, group.frames, stream);
      } else {
        stage.enqueue(context_.layout, group.frames, stream);
      }
    }
  }
}

RateGroup RateStages::group_of(std::span<const RateFrame> frames, const RateFrame* on_device) const {
  RateGroup group{.frames = on_device,
                  .count = static_cast<int>(frames.size()),
                  .range = context_.settings.coding.search_range};
  for (const RateFrame& frame : frames) {
    group.beam_width = std::max(group.beam_width, frame.rate.beam_width);
    group.capacity = std::max(group.capacity, frame.capacity);
    group.may_repeat = group.may_repeat || frame.may_repeat;
    group.is_weighted = group.is_weighted || frame.is_weighted;
    group.weighs_activity = group.weighs_activity || frame.rate.activity_power > 0;
    if (frame.job.reference == nullptr) continue;
    group.inter = true;
    group.found_vectors = std::max(group.found_vectors, frame.rate.found_vectors);
  }
  return group;
}

}  // namespace c63::cuda
