#include "cuda_me/lookahead/source_memory.h"

namespace c63::cuda {

SourceMemory SourceMemory::carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions, int kept) {
  SourceMemory memory;
  if (!decisions.any()) return memory;
  const FrameLayout layout(geometry);
  const auto blocks = static_cast<std::size_t>(geometry.plane(0).blocks());
  const auto take_motion = [&] { return carver.take<SourceBlock>(blocks + 1); };
  memory.frames.resize(static_cast<std::size_t>(decisions.frames_kept() + kept));
  for (Frame& frame : memory.frames) {
    frame.linear = carver.take<std::uint8_t>(geometry.frame_bytes());
    frame.picture = carver.take<std::uint8_t>(layout.picture_bytes);
    for (SourceBlock*& motion : frame.backward) motion = take_motion();
    if (decisions.propagate) frame.flow = carver.take<PassedError>(blocks);
  }
  memory.further = take_motion();
  memory.sums = carver.take<MotionSums>(kMotionSums);
  if (decisions.filter) {
    for (SourceBlock*& motion : memory.forward) motion = take_motion();
    memory.averaged.resize(static_cast<std::size_t>(kept));
    for (std::uint8_t*& frame : memory.averaged) frame = carver.take<std::uint8_t>(geometry.frame_bytes());
  }
  if (decisions.propagate) {
    memory.importances = carver.take<std::uint32_t>(kPropagationArrays * blocks);
    memory.weights = carver.take<Weight>(static_cast<std::size_t>(geometry.mcus()));
  }
  return memory;
}

SourceStaging SourceStaging::carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions) {
  SourceStaging staging;
  if (!decisions.any()) return staging;
  staging.input = carver.take<std::uint8_t>(geometry.frame_bytes());
  staging.weights = carver.take<Weight>(static_cast<std::size_t>(geometry.mcus()));
  staging.sums = carver.take<MotionSums>(kMotionSums);
  return staging;
}

}  // namespace c63::cuda
