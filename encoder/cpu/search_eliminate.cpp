// Full search: finds the first candidate in raster order with the least SAD. Successive elimination (SEA) skips
// candidates if the sums of their 4x4 samples prove that they are worse than the best known one. This changes the time,
// not the result.

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/search_exhaustive.h"

namespace c63::cpu {
namespace {

class EliminatingSearch final : public ExhaustiveSearch {
 public:
  using ExhaustiveSearch::ExhaustiveSearch;

  void begin(ConstPlaneView current, ConstPlaneView reference, SearchGoal goal) override {
    ExhaustiveSearch::begin(current, reference, goal);
    if (goal == SearchGoal::least_sad) sums_.resize(geometry_.samples() + 4 * kPlaneGuard);
  }

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    std::array<Position, kMostStarts> starts;
    const std::size_t count = starts_of(task, starts);
    return kernels_.search_eliminating(block_search(task), {sums_.data(), geometry_.width}, std::span(starts).first(count));
  }

  [[nodiscard]] PredictorSource wanted_predictors() const override { return PredictorSource::any_frame; }

 protected:
  void prepare_rows_for_sad(int first, int end) override {
    for (int y = first; y < std::min(end, geometry_.height - 3); ++y) {
      const std::size_t offset = static_cast<std::size_t>(y) * static_cast<std::size_t>(geometry_.width);
      kernels_.sums_of_row(reference_.row(y), reference_.pitch, geometry_.width - 3, sums_.data() + offset);
    }
  }

 private:
  /// Sums of 4x4 samples of the reference; allocated when begin() is first called with SearchGoal::least_sad.
  std::vector<std::uint16_t> sums_;
};

}  // namespace

std::unique_ptr<BlockSearcher> make_eliminating_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<EliminatingSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
