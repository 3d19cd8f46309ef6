#include "cpu/plane_search.h"

#include <algorithm>
#include <utility>

namespace c63::cpu {

PlaneSearch::PlaneSearch(std::unique_ptr<BlockSearcher> searcher, const Kernels& kernels, const PlaneGeometry& geometry,
                         int rows_per_mcu, int range)
    : kernels_(kernels),
      searcher_(std::move(searcher)),
      geometry_(geometry),
      rows_per_mcu_(rows_per_mcu),
      range_(range),
      found_(static_cast<std::size_t>(geometry.blocks())),
      chosen_(found_.size()),
      sads_(found_.size()) {}

void PlaneSearch::begin_planes(ConstPlaneView current, ConstPlaneView reference) {
  current_ = current;
  reference_ = reference;
  found_.resize(chosen_.size() * goal_.count);
  searcher_->begin(current, reference, goal_);
}

void PlaneSearch::begin(ConstPlaneView current, ConstPlaneView reference, const MotionVector* around) {
  around_ = around;
  goal_ = {};
  begin_planes(current, reference);
}

void PlaneSearch::begin(ConstPlaneView current, ConstPlaneView reference, const RateDecisions& rate) {
  if (sad_per_bit_ != rate.sad_per_bit) costs_ = SearchCosts(VectorCosts(rate.sad_per_bit));
  sad_per_bit_ = rate.sad_per_bit;
  goal_ = {&costs_, static_cast<std::size_t>(std::max(1, rate.found_vectors))};
  begin_planes(current, reference);
}

void PlaneSearch::forget() { std::ranges::fill(chosen_, MotionVector{}); }

// The following functions are called for each block. They are inlined, because calls took 3 % of the time of a search by
// brute force.

[[gnu::always_inline]] inline void PlaneSearch::set(BlockSearch& search, SearchWindow window, int column, int row, bool has_starts) const {
  const int x = column * kBlockSize;
  const int y = row * kBlockSize;
  const auto block = static_cast<std::size_t>(row * geometry_.columns + column);
  search.window = window;
  search.own = {x, y};
  search.current = &current_.at(x, y);
  search.current_pitch = current_.pitch;
  search.reference = reference_;
  if (!has_starts) return;
  // A search starts at the zero vector, the block's vector in the previous frame, and the vectors of the left and the
  // upper neighbour. Other MCU rows may be searched at the same time, so the upper neighbour must be in this MCU row. If
  // it is not, the right neighbour's vector in the previous frame is used instead. If the left neighbour is searched in
  // the same call, its vector in the previous frame is used.
  //
  // A window around the zero vector that no edge of the plane cuts contains all vectors of the range. In other windows, a
  // start outside the window is moved into it.
  const bool is_whole = around_ == nullptr && search.width() == 2 * range_ && window.bottom - window.top == 2 * range_;
  const auto start_at = [&](MotionVector vector) {
    const Position start{x + vector.x, y + vector.y};
    if (is_whole) return start;
    return Position{std::clamp(start.x, window.left, window.right - 1), std::clamp(start.y, window.top, window.bottom - 1)};
  };
  const bool has_above = row % rows_per_mcu_ != 0;
  const bool has_right = column + 1 < geometry_.columns;
  search.starts = {start_at({}), start_at(chosen_[block]), start_at(column > 0 ? chosen_[block - 1] : MotionVector{}),
                   start_at(has_above   ? chosen_[block - static_cast<std::size_t>(geometry_.columns)]
                            : has_right ? chosen_[block + 1]
                                        : MotionVector{})};
}

/// Prefetches a cache line of each row that the next MCU row will be the first to read. A large picture does not stay in
/// the caches until the next frame, and a CPU's own prefetcher does not follow the many short rows of a search window. A
/// small picture stays there, and needs none.
void PlaneSearch::prefetch_below(int column, int row) const {
  constexpr std::size_t kSmall = 256 * 1024;  // samples
  if (geometry_.samples() <= kSmall) return;
  const int x = column * kBlockSize;
  const int y = (row + rows_per_mcu_) * kBlockSize;
  const int rows = rows_per_mcu_ * kBlockSize;
  for (int i = y; i < std::min(y + rows, geometry_.height); ++i) __builtin_prefetch(&current_.at(x, i), 0, 2);
  for (int i = y + range_; i < std::min(y + range_ + rows, geometry_.height); ++i) __builtin_prefetch(&reference_.at(x, i), 0, 2);
}

[[gnu::always_inline]] inline std::uint32_t PlaneSearch::choose(int block, int column, int row, MotionVector chosen, std::uint32_t best) {
  std::uint32_t sad = best;
  if (goal_.costs != nullptr) {
    sad -= costs_.of(chosen.x, chosen.y);
    if (column > 0) {
      const MotionVector left = chosen_[static_cast<std::size_t>(block - 1)];
      if (vector_is_legal(column, row, geometry_.width, geometry_.height, left.x, left.y)) {
        const int x = column * kBlockSize;
        const int y = row * kBlockSize;
        const std::uint32_t left_sad =
            kernels_.sad(&current_.at(x, y), current_.pitch, &reference_.at(x + left.x, y + left.y), reference_.pitch);
        // A block that has the left neighbour's vector codes only flags, not the vector. `best` does not count flags,
        // because every vector needs them. So the SAD alone is compared with `best`. There is no branch, because it is
        // unpredictable which vector is cheaper.
        const bool takes_left = left_sad < best;
        chosen.x = takes_left ? left.x : chosen.x;
        chosen.y = takes_left ? left.y : chosen.y;
        sad = takes_left ? left_sad : sad;
      }
    }
  }
  chosen_[static_cast<std::size_t>(block)] = chosen;
  sads_[static_cast<std::size_t>(block)] = static_cast<std::uint16_t>(sad);
  return sad;
}

std::uint64_t PlaneSearch::search_row(int row) {
  std::uint64_t sads = 0;
  Searches searches;  // constructed once, because that takes time
  Keys keys;
  const bool needs_starts = searcher_->needs_starts(row * kBlockSize);
  for (int first = 0; first < geometry_.columns; first += kGroup) {
    const int count = std::min(kGroup, geometry_.columns - first);
    for (int i = 0; i < count; ++i) {
      BlockSearch& search = searches[static_cast<std::size_t>(i)];
      set(search, window_of(first + i, row), first + i, row, needs_starts);
      search.keys = keys.data() + static_cast<std::size_t>(i) * kMaxFoundVectors;
    }
    if (row % rows_per_mcu_ == 0) prefetch_below(first, row);
    searcher_->search(std::span(searches).first(static_cast<std::size_t>(count)));
    for (int i = 0; i < count; ++i) {
      const BlockSearch& search = searches[static_cast<std::size_t>(i)];
      const int block = row * geometry_.columns + first + i;
      MotionVector* const found = found_.data() + static_cast<std::size_t>(block) * goal_.count;
      const auto vector_of = [&](std::uint32_t key) {
        const Position at = search.candidate_of(key);
        return MotionVector{static_cast<std::int8_t>(at.x - search.own.x), static_cast<std::int8_t>(at.y - search.own.y)};
      };
      const MotionVector best = vector_of(search.keys[0]);
      found[0] = best;
      for (std::size_t n = 1; n < goal_.count; ++n) {
        found[n] = search.keys[n] == UINT32_MAX ? found[n - 1] : vector_of(search.keys[n]);
      }
      sads += choose(block, first + i, row, best, search.keys[0] >> 16);
    }
  }
  return sads;
}

std::uint64_t PlaneSearch::search_mcu_row(int mcu_row) {
  const int first = mcu_row * rows_per_mcu_;
  const auto begun = searcher_->begin_row(first * kBlockSize);
  std::uint64_t sads = 0;
  for (int row = first; row < std::min(first + rows_per_mcu_, geometry_.rows); ++row) sads += search_row(row);
  searcher_->end_row(first * kBlockSize, begun);
  return sads;
}

std::uint32_t PlaneSearch::least_sad(const SearchWindow& part, int column, int row) const {
  std::uint32_t key = 0;
  BlockSearch search;
  set(search, part, column, row, searcher_->needs_starts(row * kBlockSize));
  search.keys = &key;
  searcher_->search({&search, 1});
  return key >> 16;
}

}  // namespace c63::cpu
