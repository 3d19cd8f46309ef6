// Diamond search: from the best start, to the best of four neighbours, until none is better.

#include "cpu/search_method.h"

namespace c63::cpu {
namespace {

class DiamondSearch final : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

 protected:
  void visit(SearchCandidates& candidates) const override {
    const SearchWindow& window = candidates.window();
    for (const Position start : candidates.starts()) candidates.add(start.x, start.y);
    candidates.add(candidates.own().x, candidates.own().y);
    for (Position before{-1, -1}, center; center = candidates.best().front().place, center.x != before.x || center.y != before.y;) {
      before = center;
      for (const auto& [dx, dy] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        const int x = center.x + dx;
        const int y = center.y + dy;
        if (x >= window.left && x < window.right && y >= window.top && y < window.bottom) candidates.add(x, y);
      }
    }
  }
};

}  // namespace

std::unique_ptr<BlockSearcher> make_diamond_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<DiamondSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
