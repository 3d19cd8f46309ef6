#include "cpu/search_exhaustive.h"

namespace c63::cpu {

void ExhaustiveSearch::begin(ConstPlaneView current, ConstPlaneView reference, SearchGoal goal) {
  BlockSearcher::begin(current, reference, goal);
  goal_ = goal;
  if (goal == SearchGoal::best_by_cost) make_room_for_sums();
}

void ExhaustiveSearch::prepare_rows(int first, int end) {
  goal_ == SearchGoal::best_by_cost ? add_quarter_sums(first, end) : prepare_rows_for_sad(first, end);
}

void ExhaustiveSearch::make_room_for_sums() { quarter_sums_.resize(geometry_.samples() + 4 * kPlaneGuard); }

void ExhaustiveSearch::add_quarter_sums(int first, int end) {
  const int rows = std::min(end, geometry_.height - 3) - first;
  if (rows <= 0) return;
  std::uint8_t* const sums = quarter_sums_.data() + static_cast<std::ptrdiff_t>(first) * geometry_.width;
  kernels_.quarter_sums(reference_.row(first), reference_.pitch, geometry_.width - 3, rows, sums, geometry_.width);
}

void ExhaustiveSearch::search_best(std::span<const CostedSearch> blocks, std::size_t count) const {
  kernels_.decisions().search_best(blocks, quarter_sums(), count);
}

void ExhaustiveSearch::visit(SearchCandidates& candidates) const {
  const SearchWindow& window = candidates.window();
  for (int y = window.top; y < window.bottom; ++y) {
    for (int x = window.left; x < window.right; ++x) candidates.add(x, y);
  }
}

}  // namespace c63::cpu
