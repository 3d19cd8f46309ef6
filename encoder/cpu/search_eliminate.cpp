// Full search: the first minimum of all candidates in raster order. Candidates that the sums of their 4x4 samples prove to
// be worse than the best one known are left out; that changes the time, never the result.

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/search_method.h"

namespace c63::cpu {
namespace {

class EliminatingSearch final : public BlockSearcher {
 public:
  EliminatingSearch(const Kernels& kernels, const PlaneGeometry& geometry, int range)
      : BlockSearcher(kernels, geometry, range), sums_(geometry.samples() + 4 * kPlaneGuard) {}

  void prepare_rows(int first, int end) override {
    for (int y = first; y < std::min(end, geometry_.height - 3); ++y) {
      kernels_.sums_of_row(reference_.row(y), reference_.pitch, geometry_.width - 3, sums_.data() + offset(y));
    }
  }

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    std::array<Position, kMaxPredictors + 1> starts;
    std::size_t count = 0;
    starts[count++] = candidate_at(task, {});
    for (const MotionVector predictor : task.predictors) {
      if (count < starts.size()) starts[count++] = candidate_at(task, predictor);
    }
    return kernels_.search_eliminating(block_search(task), {sums_.data(), geometry_.width},
                                       std::span(starts).first(count));
  }

  [[nodiscard]] PredictorSource wanted_predictors() const override { return PredictorSource::any_frame; }

 private:
  static constexpr std::size_t kMaxPredictors = 3;  // more rule out little more

  [[nodiscard]] std::size_t offset(int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(geometry_.width);
  }

  std::vector<std::uint16_t> sums_;
};

}  // namespace

std::unique_ptr<BlockSearcher> make_eliminating_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<EliminatingSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
