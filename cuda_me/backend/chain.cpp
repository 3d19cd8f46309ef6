#include "cuda_me/backend/chain.h"

#include "c63/error.h"
#include "codec/search_window.h"
#include "decide/weights.h"

namespace c63::cuda {

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
