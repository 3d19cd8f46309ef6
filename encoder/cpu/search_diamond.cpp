// Diamond search: from the best neighbour's vector downhill in a large diamond, then in a small one.
// Zhu and Ma, "A new diamond search algorithm for fast block-matching motion estimation", 2000.

#include "cpu/search_steps.h"

namespace c63::cpu {
namespace {

class DiamondSearch final : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    const auto sad = [&](int x, int y) { return sad_at(task, x, y); };
    BestCandidate best = best_predictor(task);
    descend(best, task.window, kLargeDiamond, false, sad);
    descend(best, task.window, kSmallDiamond, false, sad);
    return best;
  }
};

}  // namespace

std::unique_ptr<BlockSearcher> make_diamond_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<DiamondSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
