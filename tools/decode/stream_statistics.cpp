#include "decode/stream_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace c63::tools {

void StreamStatistics::add(const FrameView& frame) {
  if (frame.repeat) {
    ++repeats_;
    return;
  }
  if (!frame.advances_reference) ++replacing_;
  Sizes& sizes = sizes_[frame.key ? 1 : 0];
  sizes.smallest = sizes.frames == 0 ? frame.coded_bytes : std::min(sizes.smallest, frame.coded_bytes);
  sizes.largest = std::max(sizes.largest, frame.coded_bytes);
  sizes.bytes += frame.coded_bytes;
  ++sizes.frames;
  const MotionField& motion = frame.motion[0];
  blocks_ += motion.vectors.size();
  for (std::size_t block = 0; block < motion.vectors.size(); ++block) {
    if (motion.inter[block] == 0) continue;
    const MotionVector mv = motion.vectors[block];
    ++vectors_;
    if (mv == MotionVector{}) ++zero_vectors_;
    length_sum_ += std::hypot(mv.x, mv.y);
    largest_component_ = std::max({largest_component_, std::abs(mv.x), std::abs(mv.y)});
  }
}

std::vector<std::string> StreamStatistics::lines() const {
  std::vector<std::string> lines;
  for (const int key : {1, 0}) {
    const Sizes& s = sizes_[key];
    if (s.frames == 0) continue;
    lines.push_back(fmt::format("{} frames: {}, {} bytes, {:.1f} a frame ({} to {})", key == 1 ? "key" : "inter",
                                s.frames, s.bytes, static_cast<double>(s.bytes) / static_cast<double>(s.frames),
                                s.smallest, s.largest));
  }
  if (replacing_ > 0) lines.push_back(fmt::format("inter frames without SOF: {}", replacing_));
  if (repeats_ > 0) lines.push_back(fmt::format("repeat frames: {}", repeats_));
  if (blocks_ > vectors_)
    lines.push_back(fmt::format("luma blocks without a vector: {} of {}", blocks_ - vectors_, blocks_));
  if (vectors_ > 0) {
    const auto n = static_cast<double>(vectors_);
    lines.push_back(fmt::format("luma vectors: {}, {:.1f} % zero, mean length {:.2f}, largest component {}", vectors_,
                                100 * static_cast<double>(zero_vectors_) / n, length_sum_ / n, largest_component_));
  }
  return lines;
}

}  // namespace c63::tools
