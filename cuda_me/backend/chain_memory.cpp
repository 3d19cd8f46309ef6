#include "cuda_me/backend/chain_memory.h"

#include <algorithm>

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

}  // namespace c63::cuda
