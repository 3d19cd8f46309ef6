#include "cpu/search_exhaustive.h"

#include <array>

namespace c63::cpu {

void ExhaustiveSearch::begin(ConstPlaneView current, ConstPlaneView reference, SearchGoal goal) {
  BlockSearcher::begin(current, reference, goal);
  goal_ = goal;
  if (goal == SearchGoal::best_by_cost) quarter_sums_.resize(geometry_.samples() + 4 * kPlaneGuard);
}

void ExhaustiveSearch::prepare_rows(int first, int end) {
  goal_ == SearchGoal::best_by_cost ? add_quarter_sums(first, end) : prepare_rows_for_sad(first, end);
}

void ExhaustiveSearch::add_quarter_sums(int first, int end) {
  for (int y = first; y < std::min(end, geometry_.height - 3); ++y) {
    std::uint8_t* const row = quarter_sums_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(geometry_.width);
    std::array<std::uint16_t, 256> sums;
    const int count = geometry_.width - 3;
    for (int x = 0; x < count; x += static_cast<int>(sums.size())) {
      const int some = std::min(static_cast<int>(sums.size()), count - x);
      kernels_.sums_of_row(reference_.row(y) + x, reference_.pitch, some, sums.data());
      for (int i = 0; i < some; ++i) row[x + i] = quarter_sum(sums[static_cast<std::size_t>(i)]);
    }
  }
}

void ExhaustiveSearch::search_best(std::span<const CostedSearch> blocks, std::size_t count) const {
  kernels_.decisions().search_best(blocks, {quarter_sums_.data(), geometry_.width}, count);
}

void ExhaustiveSearch::visit(SearchCandidates& candidates) const {
  const SearchWindow& window = candidates.window();
  for (int y = window.top; y < window.bottom; ++y) {
    for (int x = window.left; x < window.right; ++x) candidates.add(x, y);
  }
}

}  // namespace c63::cpu
