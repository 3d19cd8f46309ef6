#include "cuda_me/lane_memory.h"

#include <algorithm>

namespace c63::cuda {

DeviceLane DeviceLane::carve(Carver& carver, const FrameLayout& layout, const Keep& keep, std::size_t coded_capacity) {
  DeviceLane lane;
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  const auto segments = static_cast<std::size_t>(layout.segments);
  for (auto& input : lane.inputs) input = carver.take<std::uint8_t>(layout.picture_bytes);
  for (auto& picture : lane.pictures) picture = carver.take<std::uint8_t>(layout.picture_bytes);
  if (keep.prediction) lane.prediction = carver.take<std::uint8_t>(layout.picture_bytes);
  lane.vectors = carver.take<MotionVector>(blocks);
  lane.sads = carver.take<std::uint16_t>(blocks);
  for (ScanParts& scan : lane.scans) {
    scan.words = carver.take<std::uint32_t>(segments * kMaxSegmentWords);
    scan.bits = carver.take<std::uint32_t>(segments);
    scan.last_dc = carver.take<std::int16_t>(segments * kLastDcLevels);
    scan.bit_offsets = carver.take<unsigned long long>(segments);
    scan.stuffing = carver.take<std::uint32_t>(segments);
    scan.bytes = carver.take<unsigned long long>(1);
    if (!keep.levels) scan.stuffed = carver.take<std::uint8_t>(coded_capacity);
  }
  for (FrameState*& state : lane.states) state = carver.take<FrameState>(1);
  return lane;
}

HostLane HostLane::carve(Carver& carver, const Geometry& geometry, const FrameLayout& layout, const Keep& keep,
                         std::size_t coded_capacity) {
  HostLane lane;
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  for (Output& output : lane.outputs) {
    output.report = carver.take<FrameReport>(1);
    if (!keep.levels) output.coded = carver.take<std::uint8_t>(coded_capacity);
    if (keep.reconstruction) output.reconstruction = carver.take<std::uint8_t>(geometry.frame_bytes());
    if (keep.prediction) output.prediction = carver.take<std::uint8_t>(geometry.frame_bytes());
    if (keep.original) output.original = carver.take<std::uint8_t>(geometry.frame_bytes());
    if (keep.motion || keep.levels) output.vectors = carver.take<MotionVector>(blocks);
    if (keep.motion) output.sads = carver.take<std::uint16_t>(blocks);
    if (keep.levels) output.levels = carver.take<std::int16_t>(static_cast<std::size_t>(layout.segments) * kSegmentLevels);
  }
  if (keep.host_reference) lane.reference = carver.take<std::uint8_t>(layout.picture_bytes);
  return lane;
}

int staging_frames(const Geometry& geometry, int lanes) {
  constexpr std::size_t kBytes = 48U << 20;
  const std::size_t frames = std::min(kBytes / geometry.frame_bytes(), static_cast<std::size_t>(lanes * kLaneDepth));
  return std::max(2, static_cast<int>(frames));
}

std::size_t usual_coded_capacity(const Geometry& geometry) { return geometry.frame_bytes() / 2 + (64 << 10); }

}  // namespace c63::cuda
