#include "pipeline/lookahead.h"

#include <algorithm>
#include <array>
#include <utility>

namespace c63 {
namespace {

/// Frames behind the one that is looked at, for the filter and as references.
constexpr int kFramesKept = std::max(kFilterReach, kMostFramesBack);

/// The vector of two steps of the same motion, or of one step the other way.
MotionVector scaled(MotionVector v, int factor) {
  return {static_cast<std::int8_t>(std::clamp(factor * v.x, -127, 127)),
          static_cast<std::int8_t>(std::clamp(factor * v.y, -127, 127))};
}

std::vector<MotionVector> hints_from(const SourceMotion& motion, int factor) {
  std::vector<MotionVector> hints;
  hints.reserve(motion.size());
  for (const SourceBlock& block : motion) hints.push_back(scaled(block.vector, factor));
  return hints;
}

}  // namespace

Lookahead::Lookahead(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions)
    : geometry_(geometry),
      decisions_(decisions),
      kernels_(kernels),
      filter_(decisions.lambda),
      averaged_(geometry_) {}

std::uint64_t Lookahead::pictures(const LookaheadDecisions& decisions) {
  if (!decisions.any()) return 0;
  // Each as it was, laid out, and a quarter of one for its motion; the averaged one, and what the blocks of all of them count.
  const auto frames = static_cast<std::uint64_t>(kFramesKept + 1 + decisions.frames());
  return 9 * frames / 4 + 1 + frames / 10;
}

bool Lookahead::look(std::int64_t key, std::int64_t last, const Read& read, FramePosition& frame,
                     std::span<std::uint8_t> coded, std::shared_ptr<const std::vector<std::uint8_t>>& original) {
  if (key != key_) {
    key_ = first_ = key;
    ended_ = false;
    seen_.clear();
  }
  while (first_ < frame.index - kFramesKept) {
    seen_.pop_front();
    ++first_;
  }
  const auto seen_end = [&] { return first_ + static_cast<std::int64_t>(seen_.size()); };
  while (!ended_ && seen_end() <= last) ended_ = !read_next(read);
  if (seen_end() <= frame.index) return false;
  const auto at = static_cast<std::size_t>(frame.index - first_);
  frame.stays = seen_[at].back > 1;
  frame.is_replaced = at + 1 < seen_.size() && seen_[at + 1].back > 1;
  if (decisions_.propagate) frame.weights = std::make_shared<const FrameWeights>(weights_of(at));
  if (decisions_.filter) {
    filter(at, coded);
    original = seen_[at].original;
  } else {
    std::ranges::copy(*seen_[at].original, coded.begin());
  }
  return true;
}

bool Lookahead::read_next(const Read& read) {
  Seen next;
  next.original = std::make_shared<std::vector<std::uint8_t>>(geometry_.frame_bytes());
  if (!read(first_ + static_cast<std::int64_t>(seen_.size()), *next.original)) return false;
  next.picture = cpu::PaddedPicture(geometry_);
  std::ranges::copy(*next.original, next.picture.input().begin());
  next.picture.lay_out();
  if (!seen_.empty()) next.backward = find_motion(next, seen_.back(), hints_from(seen_.back().backward, 1));
  if (seen_.size() >= 2) {
    next.second_backward = find_motion(next, seen_[seen_.size() - 2], hints_from(next.backward, 2));
  }
  choose_reference(next);
  seen_.push_back(std::move(next));
  return true;
}

void Lookahead::choose_reference(Seen& next) const {
  const SourceMotion* motion = &next.backward;
  SourceMotion further;
  // The frame before has to be an inter frame and no repeat, and its reference to be still here.
  const bool may_stay = decisions_.choose_reference && seen_.size() >= 2 && seen_.back().back > 0 &&
                        seen_.back().back < kMostFramesBack && !is_hardly_new(seen_.back().backward, decisions_.lambda);
  if (may_stay) {
    const int back = seen_.back().back + 1;
    const SourceMotion* staying = &next.second_backward;
    if (back > 2) {
      further = find_motion(next, seen_[seen_.size() - static_cast<std::size_t>(back)], hints_from(next.backward, back));
      staying = &further;
    }
    if (is_to_stay(next.backward, *staying, decisions_.lambda)) {
      next.back = back;
      motion = staying;
    }
  }
  if (seen_.empty()) next.back = 0;
  if (decisions_.propagate) next.flow = error_flow(*motion, decisions_.lambda);
}

SourceMotion Lookahead::find_motion(const Seen& from, const Seen& to, std::span<const MotionVector> hints) const {
  return find_source_motion(geometry_.plane(0), from.picture.plane(0), to.picture.plane(0), hints, kernels_.sad);
}

void Lookahead::filter(std::size_t at, std::span<std::uint8_t> coded) {
  const Seen& own = seen_[at];
  struct Neighbour {
    const Seen* frame;
    SourceMotion motion;
    int distance;
  };
  std::vector<Neighbour> neighbours;
  if (at >= 1) neighbours.push_back({&seen_[at - 1], own.backward, 1});
  if (at >= 2) {
    neighbours.push_back({&seen_[at - 2], own.second_backward, 2});
  }
  if (at + 1 < seen_.size()) {
    const Seen& next = seen_[at + 1];
    neighbours.push_back({&next, find_motion(own, next, hints_from(next.backward, -1)), 1});
    if (at + 2 < seen_.size()) {
      const std::vector<MotionVector> hints = hints_from(neighbours.back().motion, 2);
      neighbours.push_back({&seen_[at + 2], find_motion(own, seen_[at + 2], hints), 2});
    }
  }
  const PlaneGeometry luma = geometry_.plane(0);
  for (int row = 0; row < luma.rows; ++row) {
    for (int column = 0; column < luma.columns; ++column) {
      const auto block = static_cast<std::size_t>(row * luma.columns + column);
      for (int p = 0; p < kPlanes; ++p) {
        const int shift = p == 0 ? 0 : 1;
        std::array<FilterTap, std::size_t{2} * kFilterReach> taps;
        std::size_t count = 0;
        for (const Neighbour& neighbour : neighbours) {
          const SourceBlock& found = neighbour.motion[block];
          const float weight = filter_.block_weight(neighbour.distance, found.squared_error);
          if (weight == 0) continue;
          const ConstPlaneView plane = neighbour.frame->picture.plane(p);
          const int x = (column * kBlockSize + found.vector.x) >> shift;
          const int y = (row * kBlockSize + found.vector.y) >> shift;
          taps[count++] = {&plane.at(x, y), plane.pitch, weight};
        }
        const ConstPlaneView current = own.picture.plane(p);
        const PlaneView averaged = averaged_.plane(p);
        const int x = (column * kBlockSize) >> shift;
        const int y = (row * kBlockSize) >> shift;
        filter_.average(&current.at(x, y), current.pitch, kBlockSize >> shift, std::span(taps).first(count),
                        &averaged.at(x, y), averaged.pitch);
      }
    }
  }
  averaged_.copy_to(coded);
}

FrameWeights Lookahead::weights_of(std::size_t at) const {
  std::vector<LaterFrame> later;
  for (std::size_t i = at + 1; i < seen_.size(); ++i) later.push_back({&seen_[i].flow, static_cast<std::size_t>(seen_[i].back)});
  return propagated_weights(geometry_, later);
}

}  // namespace c63
