// No search: every block is predicted from its own place.

#include "cpu/search_method.h"

namespace c63::cpu {
namespace {

class ZeroSearch final : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    return {task.x, task.y, sad_at(task, task.x, task.y)};
  }

  [[nodiscard]] PredictorSource wanted_predictors() const override { return PredictorSource::none; }
};

}  // namespace

std::unique_ptr<BlockSearcher> make_zero_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<ZeroSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
