#include "cpu/cost_search.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "codec/search_window.h"

namespace c63::cpu {
namespace {

Position candidate_at(const SearchWindow& window, int x, int y) {
  return {std::clamp(x, window.left, window.right - 1), std::clamp(y, window.top, window.bottom - 1)};
}

/// Returns the position in the window of candidate number `index`. Most windows have a power of two as width; then no
/// slow division is needed.
Position place_in_window(unsigned index, unsigned width) {
  if (!std::has_single_bit(width)) return {static_cast<int>(index % width), static_cast<int>(index / width)};
  return {static_cast<int>(index & (width - 1)), static_cast<int>(index >> std::countr_zero(width))};
}

}  // namespace

CostSearch::CostSearch(std::unique_ptr<BlockSearcher> searcher, const Kernels& kernels, const PlaneGeometry& geometry,
                       int rows_per_mcu, int range)
    : kernels_(kernels),
      searcher_(std::move(searcher)),
      geometry_(geometry),
      rows_per_mcu_(rows_per_mcu),
      range_(range),
      costs_(VectorCosts(sad_per_bit_), range),
      found_(static_cast<std::size_t>(geometry.blocks()) * kMaxFoundVectors),
      chosen_(static_cast<std::size_t>(geometry.blocks())) {}

void CostSearch::begin(ConstPlaneView current, ConstPlaneView reference, const RateDecisions& rate) {
  current_ = current;
  reference_ = reference;
  searcher_->begin(current, reference, SearchGoal::best_by_cost);
  if (sad_per_bit_ != rate.sad_per_bit) costs_ = CostTable(VectorCosts(rate.sad_per_bit), range_);
  sad_per_bit_ = rate.sad_per_bit;
  count_ = std::max(1, rate.found_vectors);
}

void CostSearch::search(int row, int first, int count, Searches& searches, std::uint32_t* costs) {
  std::array<std::uint32_t, kGroup * kMaxFoundVectors> keys;
  const int y = row * kBlockSize;
  for (int i = 0; i < count; ++i) {
    const int column = first + i;
    const int x = column * kBlockSize;
    const auto block = static_cast<std::size_t>(row * geometry_.columns + column);
    const SearchWindow window = whole_search_window(column, row, geometry_.width, geometry_.height, range_);
    CostedSearch& search = searches[static_cast<std::size_t>(i)];
    search.current = &current_.at(x, y);
    search.current_pitch = current_.pitch;
    search.reference = reference_;
    search.window = window;
    search.own = {x, y};
    search.costs = costs_.costs(window.left - x, window.top - y);
    search.quarters = costs_.quarters(window.left - x, window.top - y);
    search.cost_pitch = costs_.pitch();
    search.keys = keys.data() + static_cast<std::size_t>(i) * kMaxFoundVectors;

    // A search starts at the zero vector, the block's vector in the previous frame, and the vectors of the left and the
    // upper neighbour. Other MCU rows may be searched at the same time, so the upper neighbour must be in this MCU row.
    // If it is not, the right neighbour's vector in the previous frame is used instead. If the left neighbour is
    // searched in the same call, its vector in the previous frame is used.
    //
    // A window that no edge of the plane cuts contains all vectors of the range. In other windows, a start outside the
    // window is moved into it.
    const bool is_whole = window.right - window.left == 2 * range_ && window.bottom - window.top == 2 * range_;
    const auto start_at = [&](MotionVector vector) {
      const Position start{x + vector.x, y + vector.y};
      return is_whole ? start : candidate_at(window, start.x, start.y);
    };
    const bool has_above = row % rows_per_mcu_ != 0;
    const bool has_right = column + 1 < geometry_.columns;
    search.starts = {start_at({}), start_at(chosen_[block]), start_at(column > 0 ? chosen_[block - 1] : MotionVector{}),
                     start_at(has_above   ? chosen_[block - static_cast<std::size_t>(geometry_.columns)]
                              : has_right ? chosen_[block + 1]
                                          : MotionVector{})};
  }
  searcher_->search_best(std::span(searches).first(static_cast<std::size_t>(count)), static_cast<std::size_t>(count_));
  for (int i = 0; i < count; ++i) {
    const CostedSearch& search = searches[static_cast<std::size_t>(i)];
    const int x = (first + i) * kBlockSize;
    MotionVector* const found = found_.data() + static_cast<std::size_t>(row * geometry_.columns + first + i) * kMaxFoundVectors;
    costs[i] = search.keys[0] >> 16;
    const auto width = static_cast<unsigned>(search.window.right - search.window.left);
    for (int n = 0; n < count_; ++n) {
      if (search.keys[n] == UINT32_MAX) {
        found[n] = found[n - 1];
        continue;
      }
      const Position place = place_in_window(search.keys[n] & 0xFFFF, width);
      found[n] = {static_cast<std::int8_t>(search.window.left + place.x - x),
                  static_cast<std::int8_t>(search.window.top + place.y - y)};
    }
  }
}

std::uint64_t CostSearch::search_block_row(int row) {
  std::uint64_t sads = 0;
  std::array<std::uint32_t, kGroup> costs;
  Searches searches;  // constructed once, because that takes time
  for (int first = 0; first < geometry_.columns; first += kGroup) {
    const int count = std::min(kGroup, geometry_.columns - first);
    search(row, first, count, searches, costs.data());
    for (int column = first; column < first + count; ++column) {
      const int block = row * geometry_.columns + column;
      const std::uint32_t cost = costs[static_cast<std::size_t>(column - first)];
      MotionVector chosen = *found(block);
      std::uint32_t best_sad = cost - *costs_.costs(chosen.x, chosen.y);
      if (column > 0) {
        const MotionVector left = chosen_[static_cast<std::size_t>(block - 1)];
        if (vector_is_legal(column, row, geometry_.width, geometry_.height, left.x, left.y)) {
          const int x = column * kBlockSize;
          const int y = row * kBlockSize;
          const std::uint32_t sad = kernels_.sad(&current_.at(x, y), current_.pitch,
                                                 &reference_.at(x + left.x, y + left.y), reference_.pitch);
          // A block that has the left neighbour's vector codes only flags, not the vector. `cost` does not count flags,
          // because every vector needs them. So the SAD alone is compared with `cost`. There is no branch, because it
          // is unpredictable which vector is cheaper.
          const bool takes_left = sad < cost;
          chosen.x = takes_left ? left.x : chosen.x;
          chosen.y = takes_left ? left.y : chosen.y;
          best_sad = takes_left ? sad : best_sad;
        }
      }
      chosen_[static_cast<std::size_t>(block)] = chosen;
      sads += best_sad;
    }
  }
  return sads;
}

}  // namespace c63::cpu
