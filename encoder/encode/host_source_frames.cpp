#include "encode/host_source_frames.h"

#include <algorithm>
#include <array>
#include <utility>

namespace c63 {
namespace {

std::vector<MotionVector> hints_from(const SourceMotion& motion, int factor) {
  std::vector<MotionVector> hints;
  hints.reserve(motion.size());
  for (const SourceBlock& block : motion) hints.push_back(scaled_vector(block.vector, factor));
  return hints;
}

}  // namespace

HostSourceFrames::HostSourceFrames(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions)
    : geometry_(geometry), decisions_(decisions), kernels_(kernels), filter_(decisions.lambda), averaged_(geometry_) {}

std::span<std::uint8_t> HostSourceFrames::input() {
  next_ = std::make_shared<std::vector<std::uint8_t>>(geometry_.frame_bytes());
  return *next_;
}

std::array<MotionTotals, 2> HostSourceFrames::push() {
  Frame next;
  next.original = std::move(next_);
  next.picture = cpu::PaddedPicture(geometry_);
  std::ranges::copy(*next.original, next.picture.input().begin());
  next.picture.lay_out();
  if (!frames_.empty()) next.backward = find(next, frames_.back(), hints_from(frames_.back().backward, 1));
  if (frames_.size() >= 2) next.second_backward = find(next, frames_[frames_.size() - 2], hints_from(next.backward, 2));
  frames_.push_back(std::move(next));
  const Frame& newest = frames_.back();
  return {totals_of(newest.backward, decisions_.lambda), totals_of(newest.second_backward, decisions_.lambda)};
}

MotionTotals HostSourceFrames::find_motion(int back) {
  const Frame& newest = frames_.back();
  further_ = find(newest, frames_[frames_.size() - 1 - static_cast<std::size_t>(back)], hints_from(newest.backward, back));
  return totals_of(further_, decisions_.lambda);
}

void HostSourceFrames::predict_from(int back) {
  Frame& newest = frames_.back();
  newest.back = back;
  if (!decisions_.propagate || back == 0) return;
  newest.flow = error_flow(back == 1   ? newest.backward
                           : back == 2 ? newest.second_backward
                                       : further_,
                           decisions_.lambda);
}

PreparedFrame HostSourceFrames::look_at(std::size_t index, bool plain, std::span<std::uint8_t> input) {
  PreparedFrame looked;
  if (decisions_.propagate && !plain) looked.weights = std::make_shared<const FrameWeights>(weights_of(index));
  if (decisions_.filter && !plain) {
    filter(index, input);
    looked.original = frames_[index].original;
  } else {
    std::ranges::copy(*frames_[index].original, input.begin());
  }
  return looked;
}

SourceMotion HostSourceFrames::find(const Frame& from, const Frame& to, std::span<const MotionVector> hints) const {
  return find_source_motion(geometry_.plane(0), from.picture.plane(0), to.picture.plane(0), hints, kernels_.sad);
}

void HostSourceFrames::filter(std::size_t index, std::span<std::uint8_t> filtered) {
  const Frame& own = frames_[index];
  struct Neighbour {
    const Frame* frame;
    SourceMotion motion;
    int distance;
  };
  std::vector<Neighbour> neighbours;
  if (index >= 1) neighbours.push_back({&frames_[index - 1], own.backward, 1});
  if (index >= 2) neighbours.push_back({&frames_[index - 2], own.second_backward, 2});
  if (index + 1 < frames_.size()) {
    const Frame& next = frames_[index + 1];
    neighbours.push_back({&next, find(own, next, hints_from(next.backward, -1)), 1});
    if (index + 2 < frames_.size()) {
      const std::vector<MotionVector> hints = hints_from(neighbours.back().motion, 2);
      neighbours.push_back({&frames_[index + 2], find(own, frames_[index + 2], hints), 2});
    }
  }
  const PlaneGeometry luma = geometry_.plane(0);
  for (int row = 0; row < luma.rows; ++row) {
    for (int column = 0; column < luma.columns; ++column) {
      const auto block = static_cast<std::size_t>(row * luma.columns + column);
      for (int p = 0; p < kPlanes; ++p) {
        const int shift = p == 0 ? 0 : 1;
        const int size = kBlockSize >> shift;
        const ConstPlaneView current = own.picture.plane(p);
        const std::uint8_t* const samples = &current.at(column * size, row * size);
        std::array<FilterTap, std::size_t{2} * kFilterReach> taps;
        std::size_t count = 0;
        for (const Neighbour& neighbour : neighbours) {
          const SourceBlock& found = neighbour.motion[block];
          const float weight = filter_.block_weight(neighbour.distance, found.squared_error);
          if (weight == 0) continue;
          const ConstPlaneView plane = neighbour.frame->picture.plane(p);
          const int x = (column * kBlockSize + found.vector.x) >> shift;
          const int y = (row * kBlockSize + found.vector.y) >> shift;
          FilterTap tap{&plane.at(x, y), plane.pitch, weight};
          tap.weight *= filter_.mean_share(TemporalFilter::difference_sum(samples, current.pitch, size, tap), size * size);
          if (tap.weight != 0) taps[count++] = tap;
        }
        const PlaneView averaged = averaged_.plane(p);
        filter_.average(samples, current.pitch, size, std::span(taps).first(count), &averaged.at(column * size, row * size),
                        averaged.pitch);
      }
    }
  }
  averaged_.copy_to(filtered);
}

FrameWeights HostSourceFrames::weights_of(std::size_t index) const {
  std::vector<LaterFrame> later;
  for (std::size_t i = index + 1; i < frames_.size(); ++i) {
    later.push_back({&frames_[i].flow, static_cast<std::size_t>(frames_[i].back)});
  }
  return propagated_weights(geometry_, later);
}

}  // namespace c63
