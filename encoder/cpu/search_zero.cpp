// No search: every block is predicted from its own position.

#include "cpu/search_method.h"

namespace c63::cpu {
namespace {

class ZeroSearch final : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

 protected:
  void visit(SearchCandidates& candidates) const override { candidates.add(candidates.own().x, candidates.own().y); }
};

}  // namespace

std::unique_ptr<BlockSearcher> make_zero_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<ZeroSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
