// Hexagon search: from the best neighbour's vector downhill in a hexagon, then once around.
// Zhu, Lin and Chau, "Hexagon-based search pattern for fast block motion estimation", 2002.

#include "cpu/search_steps.h"

namespace c63::cpu {
namespace {

class HexSearch final : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    const auto sad = [&](int x, int y) { return sad_at(task, x, y); };
    BestCandidate best = best_predictor(task);
    descend(best, task.window, kHexagon, false, sad);
    descend(best, task.window, kSquare, true, sad);
    return best;
  }
};

}  // namespace

std::unique_ptr<BlockSearcher> make_hex_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<HexSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
