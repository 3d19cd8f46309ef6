#include "cpu/search_method.h"

#include <string>

#include "c63/error.h"

namespace c63::cpu {
namespace {

/// No search: every block is predicted from its own position.
class ZeroSearch final : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

 protected:
  void visit(SearchCandidates& candidates) const override { candidates.add(candidates.own().x, candidates.own().y); }
};

}  // namespace

#define C63_SEARCH_METHOD(method, text, make) \
  std::unique_ptr<BlockSearcher> make(const Kernels& kernels, const PlaneGeometry& geometry, int range);
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD

std::unique_ptr<BlockSearcher> make_zero_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<ZeroSearch>(kernels, geometry, range);
}

std::unique_ptr<BlockSearcher> make_block_searcher(SearchMethod method, const Kernels& kernels,
                                                   const PlaneGeometry& geometry, int range) {
  switch (method) {
#define C63_SEARCH_METHOD(method, text, make) \
  case SearchMethod::method:                  \
    return make(kernels, geometry, range);
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD
  }
  throw Error(ErrorKind::usage, "C63-METHOD", "there is no search method with number " + std::to_string(static_cast<int>(method)));
}

}  // namespace c63::cpu
