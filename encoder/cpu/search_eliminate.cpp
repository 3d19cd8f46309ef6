// Full search: finds the first candidate in raster order with the least SAD. Successive elimination (SEA) skips
// candidates if the sums of their 4x4 samples prove that they are worse than the best known one. This changes the time,
// not the result.

#include <algorithm>
#include <array>
#include <span>

#include "cpu/search_exhaustive.h"

namespace c63::cpu {
namespace {

class EliminatingSearch final : public ExhaustiveSearch {
 public:
  using ExhaustiveSearch::ExhaustiveSearch;

  void begin(ConstPlaneView current, ConstPlaneView reference, SearchGoal goal) override {
    ExhaustiveSearch::begin(current, reference, goal);
    if (goal == SearchGoal::least_sad) make_room_for_sums();
  }

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    BestCandidate best;
    search_several({&task, 1}, &best);
    return best;
  }

  void search_several(std::span<const BlockTask> tasks, BestCandidate* best) const override {
    if (tasks.empty()) return;
    prefetch_rows_below(tasks.front(), tasks.back());
    std::array<StartedSearch, kMostTogether> searches;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::size_t count = starts_of(tasks[i], searches[i].starts);
      std::fill(searches[i].starts.begin() + static_cast<std::ptrdiff_t>(count), searches[i].starts.end(),
                searches[i].starts[0]);
      static_cast<BlockSearch&>(searches[i]) = block_search(tasks[i]);
    }
    kernels_.search_eliminating(std::span(searches).first(tasks.size()), quarter_sums(), best);
  }

  [[nodiscard]] PredictorSource wanted_predictors() const override { return PredictorSource::any_frame; }

 protected:
  void prepare_rows_for_sad(int first, int end) override { add_quarter_sums(first, end); }

 private:
  /// Prefetches samples and sums that these blocks do not need, but the blocks below will. A CPU's own prefetcher does
  /// not fetch them, because the windows of neighbouring blocks overlap.
  void prefetch_rows_below(const BlockTask& first, const BlockTask& last) const {
    constexpr int kLine = 64;
    const QuarterSumsView sums = quarter_sums();
    const int end = std::min(first.window.bottom + 2 * kBlockSize, geometry_.height);
    for (int y = first.window.bottom + kBlockSize; y < end; ++y) {
      for (int x = first.x; x <= last.x; x += kLine) {
        __builtin_prefetch(&reference_.at(x, y));
        __builtin_prefetch(sums.at(x, y));
      }
    }
  }
};

}  // namespace

std::unique_ptr<BlockSearcher> make_eliminating_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<EliminatingSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
