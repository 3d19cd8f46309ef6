#include "cuda_me/backend/chain.h"

#include <algorithm>

#include "c63/error.h"
#include "codec/search_window.h"
#include "decide/weights.h"

namespace c63::cuda {

DeviceChain DeviceChain::carve(Carver& carver, const CodingContext& context) {
  const FrameLayout& layout = context.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  const auto segments = static_cast<std::size_t>(layout.segments);
  DeviceChain chain;
  for (Input& input : chain.inputs) {
    input.picture = carver.take<std::uint8_t>(layout.picture_bytes);
    if (context.lookahead.filter) input.original = carver.take<std::uint8_t>(layout.picture_bytes);
    input.quantizers = carver.take<StepQuantizer>(std::tuple_size_v<QuantizerTable>);
    input.decision_quantizers = carver.take<c63::Quantizer>(std::tuple_size_v<DecisionQuantizers>);
    input.weights = carver.take<Weight>(static_cast<std::size_t>(layout.mcus));
  }
  chain.decided = carver.take<std::uint8_t>(blocks);
  for (auto& picture : chain.pictures) picture = carver.take<std::uint8_t>(layout.picture_bytes);
  if (context.keep.prediction) chain.prediction = carver.take<std::uint8_t>(layout.picture_bytes);
  for (auto& vectors : chain.vectors) vectors = carver.take<MotionVector>(blocks);
  chain.sads = carver.take<std::uint16_t>(blocks);
  for (ScanParts& scan : chain.scans) {
    scan.words = carver.take<std::uint32_t>(segments * kMaxSegmentWords);
    scan.bits = carver.take<std::uint32_t>(segments);
    scan.bit_offsets = carver.take<unsigned long long>(segments);
    scan.stuffing = carver.take<std::uint32_t>(segments);
    scan.bytes = carver.take<unsigned long long>(1);
    scan.stuffed = carver.take<std::uint8_t>(context.coded_capacity);
  }
  for (FrameState*& state : chain.states) state = carver.take<FrameState>(1);
  chain.source = SourceMemory::carve(carver, context.geometry, context.lookahead, kChainDepth);
  return chain;
}

HostChain HostChain::carve(Carver& carver, const CodingContext& context) {
  const Keep& keep = context.keep;
  const auto blocks = static_cast<std::size_t>(context.layout.blocks);
  const std::size_t frame_bytes = context.geometry.frame_bytes();
  HostChain chain;
  for (Input& input : chain.inputs) {
    input.quantizers = carver.take<QuantizerTable>(1);
    input.decision_quantizers = carver.take<DecisionQuantizers>(1);
    input.weights = carver.take<Weight>(static_cast<std::size_t>(context.layout.mcus));
  }
  for (Output& output : chain.outputs) {
    output.report = carver.take<FrameReport>(1);
    output.coded = carver.take<std::uint8_t>(context.coded_capacity);
    if (keep.reconstruction) output.reconstruction = carver.take<std::uint8_t>(frame_bytes);
    if (keep.prediction) output.prediction = carver.take<std::uint8_t>(frame_bytes);
    if (keep.original) output.original = carver.take<std::uint8_t>(frame_bytes);
    if (keep.motion) output.vectors = carver.take<MotionVector>(blocks);
    if (keep.motion) output.decided = carver.take<std::uint8_t>(blocks);
    if (keep.motion) output.sads = carver.take<std::uint16_t>(blocks);
  }
  chain.source = SourceStaging::carve(carver, context.geometry, context.lookahead);
  if (keep.host_reference) chain.reference = carver.take<std::uint8_t>(context.layout.picture_bytes);
  return chain;
}

int staging_frames(const Geometry& geometry, int chains) {
  constexpr std::size_t kBytes = 48U << 20;
  const std::size_t frames = std::min(kBytes / geometry.frame_bytes(), static_cast<std::size_t>(chains * kChainDepth));
  return std::max(2, static_cast<int>(frames));
}

std::size_t usual_coded_capacity(const Geometry& geometry) { return geometry.frame_bytes() / 2 + (64 << 10); }

FrameRole advance(Chain& chain, const ChainFrame& frame, const FrameLayout& layout) {
  const FramePlan& plan = frame.plan;
  FrameRole role;
  role.key = plan.key;
  role.by_rate = plan.rate.any();
  role.is_weighted = role.by_rate && plan.weights != nullptr;
  role.has_original = role.by_rate && (frame.original != nullptr || !frame.original_in_place.empty());
  role.inherits = !plan.advances_reference();
  if (role.is_weighted) require_weights(plan, static_cast<std::size_t>(layout.mcus));
  if (role.inherits && (plan.key || !chain.inter)) {
    throw Error(ErrorKind::internal, "C63-PLAN-REFERENCE",
                "the plan has a frame without SOF that is not an inter frame after an inter frame",
                {.frame = plan.index});
  }
  if (role.inherits && chain.may_repeat) {
    throw Error(
        ErrorKind::internal, "C63-PLAN-REFERENCE",
        "the plan has a frame without SOF after a frame that may become a repeat, so its reference is not known yet",
        {.frame = plan.index});
  }
  // A key frame needs no reference, so it may be reconstructed to either of the chain's two pictures. It takes picture
  // `slot % 2`, because the CUDA graph of its slot writes to that one (see FrameGraphs).
  if (plan.key) chain.newest = static_cast<int>((chain.added + 1) % 2);
  if (!role.inherits) chain.newest = 1 - chain.newest;
  role.reconstruction = chain.newest;
  chain.inter = !plan.key;
  chain.may_repeat = role.by_rate && plan.rate.repeats && !plan.key && !role.inherits;
  return role;
}

CodingJob job_of(const CodingContext& context, const Chain& chain, std::size_t slot, std::size_t outputs,
                 const FrameRole& role) {
  const auto reconstruction = static_cast<std::size_t>(role.reconstruction);
  const DeviceChain& device = chain.device;
  const DeviceChain::Input& input = device.inputs[slot];
  const HostChain::Output& output = chain.host.outputs[outputs];
  return {.current = input.picture,
          .reference = role.key ? nullptr : device.pictures[1 - reconstruction],
          .reconstruction = device.pictures[reconstruction],
          .prediction = device.prediction,
          .quantizers = input.quantizers,
          .vectors = device.vectors[slot % 2],
          .sads = device.sads,
          .unpredicted = role.by_rate && !role.key ? device.decided : nullptr,
          .inherited = role.inherits ? device.vectors[1 - slot % 2] : nullptr,
          .scan = device.scans[outputs],
          .state = device.states[outputs],
          .coded = output.coded,
          .coded_capacity = context.coded_capacity,
          .report = output.report};
}

void add_searches(const CodingContext& context, const CodingJob& job, std::vector<MotionJob>& searches) {
  const FrameLayout& layout = context.layout;
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = context.geometry.plane(p);
    searches.push_back({.current = job.current + layout.offset[p],
                        .reference = job.reference + layout.offset[p],
                        .current_pitch = plane.width,
                        .reference_pitch = plane.width,
                        .width = plane.width,
                        .height = plane.height,
                        .range = plane_search_range(context.settings.coding.search_range, p),
                        .vectors = job.vectors + layout.first_block[p],
                        .sads = job.sads + layout.first_block[p]});
  }
}

}  // namespace c63::cuda
